package image

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/access"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/manifests"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
)

type imageInspectOptions struct {
	output         string
	platform       string
	operatorConfig string
	access         access.Flags
	timeout        time.Duration
}

// formConfig selects the configuration as the only output.
const formConfig = "config"

var inspectForms = []string{app.FormTable, app.FormJSON, app.FormYAML, formConfig}

const imageInspectHelp = `Show the data that the operator reads from an image:

  - the configuration, with the label, the layer and the file that contain it
  - the release of the server, and the source of this information
  - the metadata of an external provider
  - the digests with which the operator verifies this data

The command runs the same code as the operator, with the same limits, and applies the
checks for the release to the configuration. It reads a multi-platform image once for
each platform.

The exit code is 1 if the operator does not accept the image.`

func newImageInspectCommand(streams app.Streams) *cobra.Command {
	options := imageInspectOptions{}
	command := &cobra.Command{
		Use:   "inspect IMAGE",
		Short: "Show the data that the operator reads from an image, and whether the operator accepts the image",
		Long:  imageInspectHelp,
		Example: `  kubectl llamastack image inspect registry.example.com/team/server:prod

  # inspect an image in an OCI layout, with JSON output
  kubectl llamastack image inspect oci:build/server:prod -o json

  # check a stack with the configuration in its image
  kubectl llamastack image inspect registry.example.com/team/server:prod -o config > config.yaml
  kubectl llamastack validate -f stack.yaml --base config.yaml --release 0.7.3`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runImageInspect(command.Context(), command.InOrStdin(), streams, options, args[0])
		},
	}
	flags := command.Flags()
	flags.StringVarP(&options.output, "output", "o", app.FormTable, "table, json, yaml, or config for only the "+
		"configuration, unchanged")
	app.CompleteFixed(command, "output", inspectForms)
	flags.StringVar(&options.platform, "platform", "", "platform of the image to read, for example linux/amd64 (default: all "+
		"platforms)")
	flags.StringVar(&options.operatorConfig, "operator-config", "",
		"file with the operator's ConfigMap, whose registry settings the command uses; - for standard input")
	flags.DurationVar(&options.timeout, "timeout", registry.DefaultTimeout,
		"time limit for reading the image of one platform")
	options.access.Add(command)
	return command
}

func runImageInspect(
	ctx context.Context, stdin io.Reader, streams app.Streams, options imageInspectOptions, written string,
) error {
	if !slices.Contains(inspectForms, options.output) {
		return app.UnknownValue("--output", options.output, inspectForms)
	}
	platform, err := options.wanted()
	if err != nil {
		return err
	}
	p := app.NewPrinter(streams)
	reader, err := options.reader(stdin, p, written)
	if err != nil {
		return err
	}
	defer reader.Close()
	report, err := inspectImage(ctx, reader, written, platform, options.timeout)
	if err != nil {
		return notTaken(written, err)
	}
	return report.print(streams.Out, options.output, p)
}

// reader returns a reader with the settings from the operator's ConfigMap and the flags.
func (o *imageInspectOptions) reader(stdin io.Reader, p app.Printer, written string) (*registry.Reader, error) {
	config := operatorconfig.Config{Registries: operatorconfig.Registries{ReadLabels: true}}
	if o.operatorConfig != "" {
		var err error
		if config, err = manifests.OperatorConfig(o.operatorConfig, stdin, p); err != nil {
			return nil, err
		}
	}
	if !config.Registries.ReadLabels {
		return nil, notTaken(written, errors.New("the operator does not read images, because registries.readLabels in the "+
			"operator's ConfigMap is false; ask an administrator to set registries.readLabels to true, or set spec.baseConfig "+
			"in your stack"))
	}
	return o.access.Reader(registry.Options{
		Allow: config.Registries.Allow, Insecure: config.Registries.Insecure, Rewrite: config.Registries.Rewrite,
	}, access.RegistryOf(written))
}

// wanted returns the platform in --platform. Nil means all platforms.
func (o *imageInspectOptions) wanted() (*v1.Platform, error) {
	if o.platform == "" {
		return nil, nil //nolint:nilnil // nil means all platforms
	}
	found, err := v1.ParsePlatform(o.platform)
	if err != nil || found.OS == "" || found.Architecture == "" {
		return nil, fmt.Errorf("--platform: %q is not a valid platform; use the form linux/amd64", o.platform)
	}
	return found, nil
}

// notTaken returns the error for an image that the operator cannot or does not read.
func notTaken(written string, err error) error {
	return &app.Rejection{
		Problems: []string{written + ": " + access.Remedy(err)}, Summary: "the operator would not accept the image",
	}
}

// inspectImage reads and checks the image of the wanted platform or, if `wanted` is nil, of each platform.
func inspectImage(
	ctx context.Context, reader *registry.Reader, written string, wanted *v1.Platform, timeout time.Duration,
) (*imageReport, error) {
	opening, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	place, err := Open(opening, written, reader)
	if err != nil {
		return nil, err
	}
	platforms, digest, err := registry.Platforms(opening, place, place.Identifier())
	if err != nil {
		return nil, err
	}
	switch {
	case wanted != nil:
		platforms = []v1.Platform{*wanted}
	case platforms == nil:
		platforms = []v1.Platform{{}}
	}
	report := &imageReport{Image: written, Digest: digest}
	for _, platform := range platforms {
		report.Images = append(report.Images, report.inspect(ctx, place, platform, timeout))
	}
	report.Taken = report.refused() == 0
	return report, nil
}

// inspect reads and checks the image of one platform within the time limit.
func (r *imageReport) inspect(
	ctx context.Context, place Place, platform v1.Platform, timeout time.Duration,
) platformReport {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	read, err := registry.Inspect(ctx, place, r.Digest, platform)
	if err != nil {
		return platformReport{Platform: platform.String(), Errors: []string{access.Remedy(err)}}
	}
	found := reportOf(read, place.Tag(), r.Image)
	found.requireLabels()
	return found
}

// Command returns the command image.
func Command(streams app.Streams) *cobra.Command {
	command := &cobra.Command{
		Use:   "image",
		Short: "Label an image for the operator, or show the data that the operator reads from an image",
		Long: `Label a server image or an external provider image for the operator, or show the data
that the operator reads from an image. IMAGE is the name of an image in a registry, or
oci:DIR, oci:DIR:TAG or oci:DIR@DIGEST for an image in an OCI layout in a directory.
The commands use the credentials of docker login.`,
	}
	command.AddCommand(newImageInspectCommand(streams), newImageLabelCommand(streams))
	return command
}
