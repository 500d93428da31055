package image

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/access"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/files"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve/registry"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/externalprovider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

type imageLabelOptions struct {
	config, provider, release string
	tag, output               string
	push                      bool
	access                    access.Flags
	timeout                   time.Duration
}

const (
	imageLabelHelp = `Write the configuration of a server, its release, and the metadata of an external
provider to the labels of an image, or of every image in an index. The command writes a
configuration smaller than 50 KiB to a label, and a larger configuration to a layer.
This layer replaces the layer from an earlier run. Other layers and attestations do not
change. The command replaces Docker media types with the equivalent OCI media types.
Before it changes the image, the command checks the configuration in the same way as
the operator.

Without --push, the command writes nothing. It shows the labels and the new digest.`

	imageLabelExample = `  # show the labels first, then write them
  kubectl llamastack image label registry.example.com/team/server:prod --config config.yaml --release 0.7.3
  kubectl llamastack image label registry.example.com/team/server:prod --config config.yaml --release 0.7.3 --push

  # label an external provider, and write it with another tag
  kubectl llamastack image label registry.example.com/custom-provider:1.2 \
    --provider lls-provider-spec.yaml --tag 1.2-labeled --push

  # label an image in an OCI layout
  kubectl llamastack image label oci:build/server:prod --config config.yaml --push`
)

func newImageLabelCommand(streams app.Streams) *cobra.Command {
	options := imageLabelOptions{}
	command := &cobra.Command{
		Use:     "label IMAGE --config FILE",
		Short:   "Set the image labels that the operator reads",
		Long:    imageLabelHelp,
		Example: imageLabelExample,
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return runImageLabel(command.Context(), command.InOrStdin(), streams, options, args[0])
		},
	}
	flags := command.Flags()
	flags.StringVar(&options.config, "config", "", "file with the server's config.yaml, or - for standard input")
	flags.StringVar(&options.provider, "provider", "", "file with the metadata of an external provider, "+externalprovider.File)
	flags.StringVar(&options.release, "release", "", "release of the server in the image, for example 0.7.3 (default: the release in the label of "+
		"the image)")
	flags.BoolVar(&options.push, "push", false, "write the image with its current tag, or with the tag in --tag")
	flags.StringVar(&options.tag, "tag", "", "tag for the written image")
	flags.StringVarP(&options.output, "output", "o", app.FormTable, "table, json or yaml")
	flags.DurationVar(&options.timeout, "timeout", 5*time.Minute, "time limit for the whole command")
	options.access.Add(command)
	app.CompleteReleases(command, "release")
	return command
}

func runImageLabel(
	ctx context.Context, stdin io.Reader, streams app.Streams, options imageLabelOptions, written string,
) error {
	if err := app.CheckForm(options.output); err != nil {
		return err
	}
	wanted, err := options.labels(stdin)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, options.timeout)
	defer cancel()
	reader, err := options.access.Reader(registry.Options{}, access.RegistryOf(written))
	if err != nil {
		return err
	}
	defer reader.Close()
	place, err := Open(ctx, written, reader)
	if err != nil {
		return notLabeled(written, err)
	}
	if options.push && options.tag == "" && place.Tag() == "" && !strings.HasPrefix(written, layoutPrefix) {
		return fmt.Errorf("image %q has a digest and no tag in its name; set --tag to the tag to write", written)
	}
	return options.label(ctx, place, wanted, written, streams)
}

// label labels an image, prints the report, and writes the image if --push is set.
func (o *imageLabelOptions) label(
	ctx context.Context, place Place, wanted *registry.Labels, written string, streams app.Streams,
) error {
	report, changed, err := labelImage(ctx, place, wanted, o, written)
	if err != nil {
		return notLabeled(written, err)
	}
	p := app.NewPrinter(streams)
	if err := report.verdict(p); err != nil {
		return err
	}
	var page bytes.Buffer
	if err := app.WriteForm(&page, o.output, report, report.write); err != nil {
		return err
	}
	if !o.push {
		p.Note("nothing was written; set --push to write the image")
	} else if err := o.write(ctx, place, changed, streams); err != nil {
		return notLabeled(written, err)
	} else {
		report.written(p)
	}
	_, err = page.WriteTo(streams.Out)
	return err
}

// write writes the labeled image.
func (o *imageLabelOptions) write(ctx context.Context, to Place, changed *Labeled, streams app.Streams) error {
	line := streams.Progress()
	defer line.Clear()
	line.Show("writing %s", to.Name(o.tag))
	return to.Write(ctx, changed, o.tag)
}

// notLabeled returns the error for an image that cannot be labeled or written.
func notLabeled(written string, err error) error {
	return &app.Rejection{Problems: []string{written + ": " + access.Remedy(err)}, Summary: "the image is unchanged"}
}

// labels reads the new labels, and runs all checks that do not need the image.
func (o *imageLabelOptions) labels(stdin io.Reader) (*registry.Labels, error) {
	if o.config == "" && o.provider == "" && o.release == "" {
		return nil, errors.New("nothing to write; set --config, --provider or --release")
	}
	if o.tag != "" {
		if err := CheckTag(o.tag); err != nil {
			return nil, fmt.Errorf("--tag: %w", err)
		}
	}
	wanted := &registry.Labels{}
	if o.release != "" {
		match, err := release.LookupOffered(o.release)
		if err != nil {
			return nil, fmt.Errorf("--release: %w", err)
		}
		wanted.Release = match.Asked
	}
	if err := o.readConfig(stdin, wanted); err != nil {
		return nil, err
	}
	return wanted, o.readProvider(stdin, wanted)
}

// readConfig reads and checks the configuration in --config.
func (o *imageLabelOptions) readConfig(stdin io.Reader, wanted *registry.Labels) (err error) {
	if o.config == "" {
		return nil
	}
	if wanted.Config, err = readBounded(o.config, stdin, baseconfig.MaxSize); err != nil {
		return err
	}
	base, err := baseconfig.ParseUncached(wanted.Config)
	if err != nil {
		return wrongFile(o.config, err)
	}
	wanted.ConfigVersion = base.Version()
	return nil
}

// readProvider reads and checks the metadata in --provider.
func (o *imageLabelOptions) readProvider(stdin io.Reader, wanted *registry.Labels) (err error) {
	if o.provider == "" {
		return nil
	}
	if wanted.Provider, err = readBounded(o.provider, stdin, externalprovider.MaxSize); err != nil {
		return err
	}
	if _, err := externalprovider.Parse(wanted.Provider); err != nil {
		return wrongFile(o.provider, err)
	}
	return nil
}

// wrongFile returns the error for an invalid file.
func wrongFile(path string, err error) error {
	return &app.Rejection{Problems: []string{path + ": " + err.Error()}, Summary: "the image is unchanged"}
}

// readBounded reads a file that is not empty and has at most `limit` bytes.
func readBounded(path string, stdin io.Reader, limit int64) ([]byte, error) {
	content, err := files.Start(path, stdin, limit+1)
	switch {
	case err != nil:
		return nil, err
	case int64(len(content)) > limit:
		return nil, wrongFile(path, fmt.Errorf("is larger than %d bytes, which is the limit; use a smaller file", limit))
	case len(content) == 0:
		return nil, wrongFile(path, errors.New("is empty"))
	}
	return content, nil
}

// labelImage creates the labeled image, reads it as the operator would, and applies the operator's checks.
func labelImage(
	ctx context.Context, place Place, wanted *registry.Labels, options *imageLabelOptions, written string,
) (*labelReport, *Labeled, error) {
	changed, err := Label(ctx, place, place.Identifier(), wanted)
	if err != nil {
		return nil, nil, err
	}
	all, err := Verify(ctx, place, changed, wanted)
	if err != nil {
		return nil, nil, err
	}
	tag := cmp.Or(options.tag, place.Tag())
	report := newLabelReport(changed, wanted, written, place.Name(options.tag))
	for i, read := range all {
		one := reportOf(read, tag, written)
		if platform := changed.Images[i].Platform; platform != nil {
			one.Platform = platform.String()
		}
		if wanted.Config == nil && wanted.Release == "" {
			one = onlyProvider(&one, read)
		}
		report.checked.Images = append(report.checked.Images, one)
	}
	return report, changed, nil
}

// onlyProvider returns a report about only the provider, for a command that writes only the provider's label.
func onlyProvider(one *platformReport, read *registry.Details) platformReport {
	result := platformReport{Platform: one.Platform}
	result.checkProvider(read.Provider)
	return result
}
