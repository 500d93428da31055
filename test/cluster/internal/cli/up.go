package cli

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/binaries"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/controlplane"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/line"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/node"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/process"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/repository"
	"github.com/llamastack/llama-stack-k8s-operator/test/cluster/internal/state"
)

// defaultDir is the default state directory. It is in the work tree's cache directory, which git ignores.
const defaultDir = ".cache/cluster"

// registryVariable is the environment variable that contains the address (host:port) of the registry that pods pull
// from. A pod and the client that pushes an image to the registry over plain HTTP use the same name for the image.
const registryVariable = "CLUSTER_REGISTRY"

// defaultStartup is the default time limit for the start of a control plane. A busy machine with two cores needs a
// minute.
const defaultStartup = 3 * time.Minute

// dirFlag adds the flag for the state directory.
func dirFlag(flags *flag.FlagSet, dir string) *string {
	return flags.String("dir", dir, "state `folder`; a relative path is relative to the top of the work tree")
}

// startFlags are the flags of the commands that start a control plane.
type startFlags struct {
	line, dir, with *string
	port            *int
	audit, node     *bool
	startup         *time.Duration
	// anyKubectl means that the kubectl in $PATH is enough.
	anyKubectl bool
}

func addStartFlags(env environment, flags *flag.FlagSet, dir string) startFlags {
	return startFlags{
		line:    lineFlag(env, flags),
		dir:     dirFlag(flags, dir),
		with:    flags.String("with", controlplane.ControllerManager+","+controlplane.Scheduler, "`components` in addition to etcd and the API server, separated by commas; empty for none"),
		port:    flags.Int("port", 0, "`port` of the API server on 127.0.0.1; 0 selects a free port"),
		audit:   flags.Bool("audit-log", false, "write every request to log/audit.log in the state folder"),
		node:    nodeFlag(flags),
		startup: flags.Duration("timeout", defaultStartup, "time limit for the start"),
	}
}

// start contains the validated options for starting a control plane.
type start struct {
	root    repository.Root
	dir     string
	version string
	options controlplane.Options
	startup time.Duration
	// until is the process whose end stops the control plane. It is empty if there is no such process.
	until process.Identity
}

// resolve validates the flags, and downloads or builds the programs if necessary.
func (f startFlags) resolve(ctx context.Context, env environment, flags *flag.FlagSet) (start, error) {
	with, err := controlplane.ParseWith(*f.with)
	if err != nil {
		return start{}, refuse(flags, "--with: "+err.Error())
	}
	root, err := repository.Find(env.folder)
	if err != nil {
		return start{}, err
	}
	l, err := loadLine(env, *f.line)
	if err != nil {
		return start{}, err
	}
	if *f.node {
		if err := f.checkNode(flags, with); err != nil {
			return start{}, err
		}
	}
	folder, err := programs(ctx, env, f.needed(l, with))
	if err != nil {
		return start{}, err
	}
	var nodeFolders []string
	if *f.node {
		if nodeFolders, err = nodePrograms(ctx, env, l); err != nil {
			return start{}, err
		}
	}
	return start{
		root: root, dir: root.Path(*f.dir), version: l.Version, startup: *f.startup,
		options: controlplane.Options{Programs: folder, Port: *f.port, With: with, AuditLog: *f.audit, Node: nodeFolders},
	}, nil
}

// needed returns the set of programs, limited to those that the control plane and the user run.
func (f startFlags) needed(l line.Line, with []string) binaries.Set {
	set := binaries.ControlPlane(l)
	set.Needs = controlplane.Programs(with)
	if _, err := exec.LookPath("kubectl"); err != nil || *f.node || !f.anyKubectl {
		set.Needs = append(set.Needs, "kubectl")
	}
	return set
}

// checkNode returns an error if the machine or the flags do not allow a node. It runs before the programs are built,
// because a build takes minutes.
func (f startFlags) checkNode(flags *flag.FlagSet, with []string) error {
	if len(with) < 2 {
		return refuse(flags, "--node: pods need the controller manager and the scheduler; remove --with")
	}
	return node.Check()
}

// record returns the initial record in the state directory, before any process runs.
func (s start) record() state.Record {
	return state.Record{Kubernetes: s.version, Options: s.options.String(), Started: time.Now().UTC()}
}

// kubeconfig returns the path of the administrator's kubeconfig.
func (s start) kubeconfig() string { return filepath.Join(s.dir, controlplane.Kubeconfig) }

func runUp(ctx context.Context, env environment, args []string) error {
	flags := newFlags(env, "up", "", "Starts etcd, the API server, the controller manager and the scheduler, and returns when they are ready.\nTo set the variables of your shell, evaluate the standard output: eval \"$(cluster up)\". If the control plane\nis already running with the same flags, prints the same output again. To stop the control plane, run `cluster down`.")
	chosen := addStartFlags(env, flags, defaultDir)
	foreground := flags.Bool("foreground", false, "run until interrupted, then stop everything and remove the state folder")
	until := flags.Int("until", 0, "stop when the process with this `pid` ends; in a script, use $$")
	if err := parse(flags, args); err != nil {
		return err
	}
	s, err := chosen.resolve(ctx, env, flags)
	if err != nil {
		return err
	}
	if *until != 0 {
		if s.until, err = process.Identify(*until); err != nil {
			return fmt.Errorf("--until: %w", err)
		}
	}
	if *foreground {
		return attached(ctx, env, s, func() error { return printExport(env, s) })
	}
	up, err := alreadyUp(s)
	if err != nil {
		return err
	}
	if !up {
		if err := detach(ctx, env, s); err != nil {
			return err
		}
	}
	return printExport(env, s)
}

// alreadyUp reports whether the requested control plane is already running. It returns an error if a control plane with
// different options is running.
func alreadyUp(s start) (bool, error) {
	record, err := state.Read(s.dir)
	if errors.Is(err, state.ErrAbsent) {
		return false, nil
	}
	if err != nil || !record.Ready || !state.Supervised(record) {
		return false, err
	}
	if wanted := s.record(); record.Options != wanted.Options || record.Kubernetes != wanted.Kubernetes {
		return false, fmt.Errorf("a control plane with different flags is already running in %q (Kubernetes %s, %s): run `cluster down --dir %s` first", s.dir, record.Kubernetes, record.Options, s.dir)
	}
	return true, nil
}

// printExport writes the lines for the user's shell.
func printExport(env environment, s start) error {
	record, err := state.Read(s.dir)
	if err != nil {
		return err
	}
	fmt.Fprintf(env.stderr, "Kubernetes %s is up; kubectl: %s\n", s.version, filepath.Join(s.options.Programs, "kubectl"))
	_, err = fmt.Fprint(env.stdout, exports(s.dir, record))
	return err
}

// exports returns the environment variables for programs that use the cluster, as lines for a shell.
func exports(dir string, record state.Record) string {
	text := fmt.Sprintf("export KUBECONFIG=%s\n", quote(filepath.Join(dir, controlplane.Kubeconfig)))
	if record.Registry != "" {
		text += fmt.Sprintf("export %s=%s\n", registryVariable, quote(record.Registry))
	}
	return text
}
