// Command images builds the images for the tests on a real node and pushes them to a registry, without a container
// engine.
//
//	images -registry 10.200.0.1:5000 operator standin@0.7.3 server@0.7.3
//
// To give an image an additional name in the registry, use "=": server@0.7.3=ogxai/distribution-starter:0.7.1.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/test/node/image"
)

// registryVariable is the environment variable with the registry address of a cluster that test/cluster runs.
const registryVariable = "CLUSTER_REGISTRY"

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:], os.Getenv, os.Stdout, os.Stderr)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "images:", err)
		os.Exit(1)
	}
}

// run prints the reference of each image, in the order of the arguments.
func run(ctx context.Context, args []string, getenv func(string) string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("images", flag.ContinueOnError)
	flags.SetOutput(stderr)
	registry := flags.String("registry", getenv(registryVariable),
		"registry to push to, `host:port`; if set, $"+registryVariable+" is the default")
	version := flags.String("version", "test", "the version that the operator reports")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *registry == "" || flags.NArg() == 0 {
		return fmt.Errorf("a registry and at least one image are required; set -registry or $%s, and name one or more of these images: operator, databases, standin@<release>, server@<release>", registryVariable)
	}
	wanted, names := furtherNames(flags.Args())
	published, err := image.Publish(ctx, *registry, *version, wanted...)
	if err != nil {
		return err
	}
	for _, each := range wanted {
		done := published[each]
		fmt.Fprintln(stdout, done.Reference)
		fmt.Fprintf(stderr, "%s: %.1f MB, built and pushed in %v\n", each, float64(done.Size)/1e6,
			done.Took.Round(100*time.Millisecond))
		for _, name := range names[each] {
			if err := image.Copy(ctx, done.Reference, *registry+"/"+name); err != nil {
				return err
			}
		}
	}
	return nil
}

// furtherNames returns each requested image once, and the additional names of each image.
func furtherNames(args []string) (wanted []string, names map[string][]string) {
	names = map[string][]string{}
	for _, arg := range args {
		each, name, found := strings.Cut(arg, "=")
		if !slices.Contains(wanted, each) {
			wanted = append(wanted, each)
		}
		if found {
			names[each] = append(names[each], name)
		}
	}
	return wanted, names
}
