package cli

import (
	"bytes"
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/internal/bundle"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/progress"
	"github.com/llamastack/llama-stack-k8s-operator/internal/resolve/registry"
)

type bundleLoadOptions struct {
	registry, output string
	access           access
	dryRun           bool
	timeout          time.Duration
}

func newBundleLoadCommand(streams Streams) *cobra.Command {
	options := bundleLoadOptions{}
	command := &cobra.Command{
		Use:   "load BUNDLE --registry REGISTRY",
		Short: "Write the images of a bundle to a registry",
		Long: `Write every image of a bundle to a registry with its digest unchanged, and print the
settings that the operator needs to use the registry. Blobs that the registry already
has are not sent again, so an interrupted load continues where it ended. The command
connects to no other host than the registry. It uses the credentials of docker login.

docker.io/ogxai/server:1 becomes REGISTRY/ogxai/server:1. A Docker Hub image without
an organization becomes REGISTRY/library/..., as in a mirror of docker.io.

The flag --output selects what is printed on standard output:
  values     values of the chart
  configmap  the operator's ConfigMap
  variables  RELATED_IMAGE_... variables for the operator's container
  images     each image with its new location and its digest`,
		Example: `  kubectl llamastack bundle load llama-stack-bundle.tar --registry registry.corp:5000/mirror --ca-file ca.pem > values.yaml
  helm install llama-stack-k8s-operator chart/llama-stack-k8s-operator --values values.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runBundleLoad(command.Context(), streams, options, args[0])
		},
	}
	flags := command.Flags()
	flags.StringVar(&options.registry, "registry", "", "registry to write the images to: host[:port], or "+
		"host[:port]/path to write below a path")
	options.access.addFlags(command)
	flags.BoolVar(&options.dryRun, "dry-run", false, "write nothing, and do not connect to the registry")
	flags.StringVarP(&options.output, "output", "o", formValues, strings.Join(bundleForms, ", "))
	flags.DurationVar(&options.timeout, "timeout", time.Hour, "time limit for the whole command")
	must(command.MarkFlagRequired("registry"))
	must(command.RegisterFlagCompletionFunc("output", cobra.FixedCompletions(bundleForms,
		cobra.ShellCompDirectiveNoFileComp)))
	return command
}

func runBundleLoad(ctx context.Context, streams Streams, options bundleLoadOptions, file string) error {
	if !slices.Contains(bundleForms, options.output) {
		return fmt.Errorf("--output: %q is not a valid format; use one of "+
			"%s", options.output, strings.Join(bundleForms, ", "))
	}
	if err := bundle.CheckPrefix(options.registry); err != nil {
		return fmt.Errorf("--registry: %w", err)
	}
	host, _, _ := strings.Cut(options.registry, "/")
	allowed, err := options.access.options(registry.Options{}, host)
	if err != nil {
		return err
	}
	opened, err := bundle.Open(file)
	if err != nil {
		return notLoaded(err.Error())
	}
	defer opened.Close()
	reader := registry.New(allowed)
	defer reader.Close()
	p := newPrinter(streams)
	load := newLoader(p, streams.progress(), opened)
	target := &bundle.Target{
		Prefix: options.registry, Insecure: options.access.insecure, Transport: load.through(reader.Transport()),
		Credentials: authn.DefaultKeychain,
		UserAgent:   "kubectl-llamastack",
	}
	places, err := opened.Destinations(target)
	if err != nil {
		return notLoaded(err.Error())
	}
	ctx, cancel := context.WithTimeout(ctx, options.timeout)
	defer cancel()
	if options.dryRun {
		p.note("--dry-run: nothing is written")
	} else if err := load.all(ctx, places, target); err != nil {
		return err
	}
	var page bytes.Buffer
	if err := newMirrored(opened.Images, places, options.registry).write(&page, p, options.output); err != nil {
		return err
	}
	_, err = page.WriteTo(streams.Out)
	return err
}

// loader loads images, and shows how far the current one is.
type loader struct {
	p    printer
	line *progress.Line
	from *bundle.Bundle
	sent *progress.Sent
	// size is the size of the current image.
	size int64
}

func newLoader(p printer, line *progress.Line, from *bundle.Bundle) *loader {
	return &loader{p: p, line: line, from: from}
}

// through returns a transport that counts what it sends.
func (l *loader) through(transport http.RoundTripper) http.RoundTripper {
	l.sent = progress.NewSent(transport, func(sent int64) {
		l.line.Show("%s of %s sent", megabytes(sent),
			megabytes(l.size))
	})
	return l.sent
}

// all loads the images one after the other, and reports each of them.
func (l *loader) all(ctx context.Context, places []name.Reference, target *bundle.Target) error {
	defer l.line.Clear()
	for i := range l.from.Images {
		err := l.one(ctx, &l.from.Images[i], places[i], target)
		switch {
		case err != nil && ctx.Err() != nil:
			return notLoaded(fmt.Sprintf("%s: the time limit of --timeout has expired; run the command again to "+
				"continue", places[i]))
		case err != nil:
			return notLoaded(fmt.Sprintf("%s: %s", places[i], loadRemedy(err)))
		}
	}
	return nil
}

func (l *loader) one(ctx context.Context, image *bundle.Image, place name.Reference, target *bundle.Target) error {
	started := time.Now()
	size, err := l.from.Size(ctx, image)
	if err != nil {
		return err
	}
	l.p.line("%s (%s) to %s", image.Reference, megabytes(size), place)
	l.size = size
	l.sent.Reset()
	loaded, err := l.from.Load(ctx, image, place, target)
	l.line.Clear()
	if err != nil {
		return err
	}
	if loaded.Complete {
		l.p.ok("the registry already has it: " + image.Descriptor.Digest.String())
	} else {
		l.p.ok(fmt.Sprintf("%s, %s sent in %.1f s", image.Descriptor.Digest, megabytes(loaded.Sent),
			time.Since(started).Seconds()))
	}
	return nil
}

// loadRemedy returns the text of an error from the registry or the archive, with a remedy.
func loadRemedy(err error) string {
	if damage := bundle.Damage(err); damage != nil {
		return damage.Error()
	}
	return withRemedy(registry.Sanitize(err))
}

// notLoaded is the error for a bundle that cannot be loaded.
func notLoaded(problem string) error {
	return &rejection{problems: []string{problem}, summary: "not all images are in the registry; run the command " +
		"again: images that are already there are not sent again"}
}

func megabytes(size int64) string { return fmt.Sprintf("%.1f MB", float64(size)/1e6) }
