package cli

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"time"

	"github.com/google/go-containerregistry/pkg/authn"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/image"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/resolve/registry"
)

type imageInspectOptions struct {
	output         string
	platform       string
	operatorConfig string
	access         access
	timeout        time.Duration
}

func newImageInspectCommand(streams Streams) *cobra.Command {
	options := imageInspectOptions{}
	command := &cobra.Command{
		Use:   "inspect IMAGE",
		Short: "Show what the operator reads from an image, and whether it accepts the image",
		Long: `Show what the operator reads from an image:

  - the configuration, with the label, the layer and the file that it comes from
  - the release of the server, and how it was determined
  - the metadata of an external provider
  - the digests that verify all of this

The command runs the same code as the operator, with the same limits, and applies the
checks of the release to the configuration. It reads an image for several platforms
once for each platform.

The exit code is 1 if the operator would not accept the image.`,
		Example: `  kubectl llamastack image inspect registry.example.com/team/server:prod

  # inspect an image in an OCI layout, with JSON output
  kubectl llamastack image inspect oci:build/server:prod -o json`,
		Args: cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runImageInspect(command.Context(), command.InOrStdin(), streams, options, args[0])
		},
	}
	flags := command.Flags()
	flags.StringVarP(&options.output, "output", "o", formTable, "table, json or yaml")
	flags.StringVar(&options.platform, "platform", "", "platform of the image to read, for example linux/amd64 "+
		"(default: all platforms)")
	flags.StringVar(&options.operatorConfig, "operator-config", "",
		"file with the operator's ConfigMap, whose registry settings apply as in the cluster; - for standard input")
	flags.DurationVar(&options.timeout, "timeout", registry.DefaultTimeout, "time limit for the image of one platform")
	options.access.addFlags(command)
	return command
}

func runImageInspect(
	ctx context.Context, stdin io.Reader, streams Streams, options imageInspectOptions, written string,
) error {
	if err := checkForm(options.output); err != nil {
		return err
	}
	platform, err := options.wanted()
	if err != nil {
		return err
	}
	p := newPrinter(streams)
	config := operatorconfig.Config{Registries: operatorconfig.Registries{ReadLabels: true}}
	if options.operatorConfig != "" {
		if config, err = readOperatorConfig(options.operatorConfig, stdin, p); err != nil {
			return err
		}
	}
	if !config.Registries.ReadLabels {
		return notTaken(written, fmt.Errorf("the operator does not read images: registries.readLabels in its configuration "+
			"is false"))
	}
	found, err := options.access.options(registry.Options{
		Allow: config.Registries.Allow, Insecure: config.Registries.Insecure, Rewrite: config.Registries.Rewrite,
	}, registryOf(written))
	if err != nil {
		return err
	}
	reader := registry.New(found)
	defer reader.Close()
	report, err := inspectImage(ctx, reader, written, platform, options.timeout)
	if err != nil {
		return notTaken(written, err)
	}
	var page bytes.Buffer
	if options.output == formTable {
		report.write(&page)
	} else if err := writeData(&page, options.output, report); err != nil {
		return err
	}
	if _, err := page.WriteTo(streams.Out); err != nil {
		return err
	}
	return report.verdict(p)
}

// wanted returns the requested platform. Nil means all platforms.
func (o *imageInspectOptions) wanted() (*v1.Platform, error) {
	if o.platform == "" {
		return nil, nil //nolint:nilnil // a missing platform is not an error
	}
	found, err := v1.ParsePlatform(o.platform)
	if err != nil || found.OS == "" || found.Architecture == "" {
		return nil, fmt.Errorf("--platform: %q is not a valid platform: use a form like linux/amd64", o.platform)
	}
	return found, nil
}

// notTaken is the error for an image that cannot be read.
func notTaken(written string, err error) error {
	return &rejection{problems: []string{written + ": " + withRemedy(err)}, summary: "the operator would not accept " +
		"the image"}
}

// inspectImage reads the image of each platform.
func inspectImage(
	ctx context.Context, reader *registry.Reader, written string, wanted *v1.Platform, timeout time.Duration,
) (*imageReport, error) {
	opening, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	place, err := image.Open(opening, written, reader, authn.DefaultKeychain)
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
		one, err := inspectPlatform(ctx, place, digest, platform, timeout)
		if err != nil {
			report.Images = append(report.Images, platformReport{Platform: platform.String(), Errors: []string{withRemedy(err)}})
			continue
		}
		found := reportOf(one, place.Tag(), written)
		found.requireLabels()
		report.Images = append(report.Images, found)
	}
	report.Taken = report.refused() == 0
	return report, nil
}

// inspectPlatform reads the image of one platform within the operator's time limit.
func inspectPlatform(
	ctx context.Context, place image.Place, digest string, platform v1.Platform, timeout time.Duration,
) (*registry.Details, error) {
	ctx, cancel := context.WithTimeout(ctx, timeout)
	defer cancel()
	return registry.Inspect(ctx, place, digest, platform)
}
