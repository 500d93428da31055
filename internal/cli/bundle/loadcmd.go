package bundle

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

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/access"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/progress"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry"
)

type bundleLoadOptions struct {
	registry, output string
	access           access.Flags
	dryRun           bool
	timeout          time.Duration
}

const bundleLoadHelp = `Write every image in a bundle to a registry with its digest unchanged, and print the
settings that the operator needs to use the registry. Blobs that the registry already
has are not sent again, so an interrupted load continues where it stopped. The command
connects only to the registry. It uses the credentials that docker login saved.

docker.io/ogxai/server:1 becomes REGISTRY/ogxai/server:1. A Docker Hub image without
an organization becomes REGISTRY/library/..., as in a mirror of docker.io.

The flag --output selects the settings to print on standard output:
  values     values for the chart
  configmap  the operator's ConfigMap
  variables  RELATED_IMAGE_... variables for the operator's container
  images     each image with its new location and its digest`

func newBundleLoadCommand(streams app.Streams) *cobra.Command {
	options := bundleLoadOptions{}
	command := &cobra.Command{
		Use:   "load BUNDLE --registry REGISTRY",
		Short: "Write the images from a bundle to a registry",
		Long:  bundleLoadHelp,
		Example: `  kubectl llamastack bundle load llama-stack-bundle.tar --registry registry.corp:5000/mirror --ca-file ca.pem > values.yaml
  helm install llama-stack-k8s-operator chart/llama-stack-k8s-operator --values values.yaml`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runBundleLoad(command.Context(), streams, options, args[0])
		},
	}
	flags := command.Flags()
	flags.StringVar(&options.registry, "registry", "", "registry to write the images to: host[:port], or "+
		"host[:port]/path for a path in the registry")
	options.access.Add(command)
	flags.BoolVar(&options.dryRun, "dry-run", false, "write nothing, and do not connect to the registry")
	flags.StringVarP(&options.output, "output", "o", formValues, strings.Join(bundleForms, ", "))
	flags.DurationVar(&options.timeout, "timeout", time.Hour, "time limit for the whole command")
	app.Must(command.MarkFlagRequired("registry"))
	app.CompleteFixed(command, "output", bundleForms)
	return command
}

func runBundleLoad(ctx context.Context, streams app.Streams, options bundleLoadOptions, file string) error {
	if err := options.check(); err != nil {
		return err
	}
	host, _, _ := strings.Cut(options.registry, "/")
	reader, err := options.access.Reader(registry.Options{}, host)
	if err != nil {
		return err
	}
	defer reader.Close()
	opened, err := Open(file)
	if err != nil {
		return notLoaded(err.Error())
	}
	defer opened.Close()
	p := app.NewPrinter(streams)
	places, err := options.load(ctx, &loader{p: p, line: streams.Progress(), from: opened}, reader.Transport())
	if err != nil {
		return err
	}
	var page bytes.Buffer
	if err := newMirrored(opened.Images, places, options.registry).write(&page, p, options.output); err != nil {
		return err
	}
	_, err = page.WriteTo(streams.Out)
	return err
}

// check returns an error for an invalid value of a flag.
func (o *bundleLoadOptions) check() error {
	if !slices.Contains(bundleForms, o.output) {
		return app.UnknownValue("--output", o.output, bundleForms)
	}
	if err := CheckPrefix(o.registry); err != nil {
		return fmt.Errorf("--registry: %w", err)
	}
	return nil
}

// load writes the images in the bundle unless --dry-run is set, and returns their destinations.
func (o *bundleLoadOptions) load(
	ctx context.Context, l *loader, transport http.RoundTripper,
) ([]name.Reference, error) {
	target := &Target{
		Prefix: o.registry, Insecure: o.access.Insecure, Transport: l.through(transport),
		Credentials: authn.DefaultKeychain, UserAgent: "kubectl-llamastack",
	}
	places, err := l.from.Destinations(target)
	if err != nil {
		return nil, notLoaded(err.Error())
	}
	if o.dryRun {
		l.p.Note("--dry-run: nothing is written")
		return places, nil
	}
	ctx, cancel := context.WithTimeout(ctx, o.timeout)
	defer cancel()
	return places, l.all(ctx, places, target)
}

// loader loads images, and shows the progress of the current image.
type loader struct {
	p    app.Printer
	line *progress.Line
	from *Bundle
	sent *progress.Sent
	// size is the size of the current image in bytes.
	size int64
}

// through returns a transport that counts the bytes that it sends, and shows the count.
func (l *loader) through(transport http.RoundTripper) http.RoundTripper {
	l.sent = progress.NewSent(transport, func(sent int64) {
		l.line.Show("%s of %s sent", megabytes(sent), megabytes(l.size))
	})
	return l.sent
}

// all loads the images one after the other, and prints the destination and the result of each.
func (l *loader) all(ctx context.Context, places []name.Reference, target *Target) error {
	defer l.line.Clear()
	for i := range l.from.Images {
		err := l.one(ctx, &l.from.Images[i], places[i], target)
		switch {
		case err != nil && ctx.Err() != nil:
			return notLoaded(fmt.Sprintf("%s: the time limit in --timeout has expired; run the command again to "+
				"continue, or set a longer --timeout", places[i]))
		case err != nil:
			return notLoaded(fmt.Sprintf("%s: %s", places[i], loadRemedy(err)))
		}
	}
	return nil
}

func (l *loader) one(ctx context.Context, image *Image, place name.Reference, target *Target) error {
	started := time.Now()
	size, err := l.from.Size(ctx, image)
	if err != nil {
		return err
	}
	l.p.Line("%s (%s) to %s", image.Reference, megabytes(size), place)
	l.size = size
	l.sent.Reset()
	loaded, err := l.from.Load(ctx, image, place, target)
	l.line.Clear()
	if err != nil {
		return err
	}
	if loaded.Complete {
		l.p.OK("the registry already has the image: " + image.Descriptor.Digest.String())
	} else {
		l.p.OK(fmt.Sprintf("%s, %s sent in %.1f s", image.Descriptor.Digest, megabytes(loaded.Sent),
			time.Since(started).Seconds()))
	}
	return nil
}

// loadRemedy returns the text of a registry or archive error, and adds the remedy.
func loadRemedy(err error) string {
	if damage := Damage(err); damage != nil {
		return damage.Error() + "; copy the archive again, or create a new archive"
	}
	return access.Remedy(registry.Sanitize(err))
}

// notLoaded returns the error for a bundle that was not loaded completely.
func notLoaded(problem string) error {
	return &app.Rejection{Problems: []string{problem}, Summary: "not all images are in the registry; correct the " +
		"problem, and run the command again; the command does not resend images that the registry already has"}
}

func megabytes(size int64) string { return fmt.Sprintf("%.1f MB", float64(size)/1e6) }

// Command returns the command bundle.
func Command(streams app.Streams) *cobra.Command {
	command := &cobra.Command{
		Use:   "bundle",
		Short: "Load the images from a bundle into the registry of a cluster without internet access",
		Long: `Load the images from a bundle. A bundle is an archive for clusters without internet
access. It contains images, manifests, the chart, samples and kubectl-llamastack. To
create a bundle, run make airgap-bundle.`,
	}
	command.AddCommand(newBundleLoadCommand(streams))
	return command
}
