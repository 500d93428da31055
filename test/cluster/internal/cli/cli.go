package cli

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/controlplane"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/network"
)

// These are the exit codes of the command.
const (
	exitOK      = 0
	exitFailure = 1
	exitUsage   = 2
)

// errUsage marks a command-line mistake that has already been reported.
var errUsage = errors.New("usage")

// environment is the environment of a command.
type environment struct {
	stdout, stderr io.Writer
	getenv         func(string) string
	// folder is the current directory, which selects the work tree.
	folder string
}

// verb is one command of the tool.
type verb struct {
	name, summary string
	// hidden means that only the tool itself calls the command.
	hidden bool
	run    func(context.Context, environment, []string) error
}

// verbs returns the commands in the order of the help text.
func verbs() []verb {
	return []verb{
		{name: "build", summary: "download or build etcd, the Kubernetes control plane and kubectl into the user's cache", run: runBuild},
		{name: "assets", summary: "download or build the programs, then print the folder for KUBEBUILDER_ASSETS", run: runAssets},
		{name: "up", summary: "start a control plane and print the line that exports its KUBECONFIG", run: runUp},
		{name: "status", summary: "show the components and whether they are running", run: runStatus},
		{name: "down", summary: "stop the control plane and remove its state folder", run: runDown},
		{name: "run", summary: "start a control plane, run a command against it, and stop the control plane", run: runRun},
		{name: restartNode, summary: "kill all processes of the node, which then starts again", run: runRestartNode},
		{name: supervise, hidden: true, run: runSupervise},
		{name: controlplane.NodeVerb, hidden: true, run: runNodeInit},
	}
}

// Main runs the command in args with the environment of this process until the command ends or is interrupted. It
// returns the exit code.
func Main(args []string) int {
	ctx, stop := interruptible(context.Background())
	defer stop()
	folder, err := os.Getwd()
	if err != nil {
		fmt.Fprintln(os.Stderr, "cluster: finding the current folder:", err)
		return exitFailure
	}
	if err := os.Setenv("NO_PROXY", withoutProxy(os.Getenv)); err != nil {
		fmt.Fprintln(os.Stderr, "cluster: setting NO_PROXY:", err)
		return exitFailure
	}
	return run(ctx, environment{stdout: os.Stdout, stderr: os.Stderr, getenv: os.Getenv, folder: folder}, args)
}

// withoutProxy returns the value of NO_PROXY for this process and the programs that it starts, for example kubectl and
// containerd. A proxy, which the downloads may need, cannot reach the addresses of the cluster.
func withoutProxy(getenv func(string) string) string {
	own := network.All + ",.svc,.cluster.local"
	if users := cmp.Or(getenv("NO_PROXY"), getenv("no_proxy")); users != "" {
		return users + "," + own
	}
	return own
}

// interruption is the cancellation cause of a context that a signal has ended.
type interruption struct{ signal os.Signal }

func (i interruption) Error() string { return "got signal " + i.signal.String() }

// interruptible returns a context that ends at the first termination signal.
func interruptible(parent context.Context) (ctx context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(parent)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	go func() {
		select {
		case received := <-signals:
			cancel(interruption{received})
		case <-ctx.Done():
		}
	}()
	return ctx, func() {
		signal.Stop(signals)
		cancel(nil)
	}
}

// run runs the command in args and returns its exit code.
func run(ctx context.Context, env environment, args []string) int {
	if len(args) == 0 {
		usage(env.stderr)
		return exitUsage
	}
	if args[0] == "help" || args[0] == "-h" || args[0] == "--help" {
		usage(env.stdout)
		return exitOK
	}
	for _, v := range verbs() {
		if v.name == args[0] {
			return exitCode(env, v.name, v.run(ctx, env, args[1:]))
		}
	}
	fmt.Fprintf(env.stderr, "cluster: unknown command %q\n\n", args[0])
	usage(env.stderr)
	return exitUsage
}

// exitCode reports err, unless it was already reported, and returns the exit code.
func exitCode(env environment, name string, err error) int {
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return exitOK
	case errors.Is(err, errUsage):
		return exitUsage
	default:
		fmt.Fprintf(env.stderr, "cluster %s: %v\n", name, err)
		return exitFailure
	}
}

func usage(w io.Writer) {
	fmt.Fprint(w, "cluster runs a real Kubernetes control plane on this machine, and with --node (as root) also a node, without a container engine.\n\nUsage: cluster <command> [flags]\n\n")
	for _, v := range verbs() {
		if !v.hidden {
			fmt.Fprintf(w, "  %-12s %s\n", v.name, v.summary)
		}
	}
	fmt.Fprint(w, "\ncluster <command> --help shows the flags of a command.\n")
}
