package manifests

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/files"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// ImageFlags are the flags for facts about images, which the commands for manifests do not read.
type ImageFlags struct{ release, base string }

// AddImage adds the flags.
func (f *ImageFlags) AddImage(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.release, "release", "", "server release to use for the images that stacks specify, and instead of "+
		"the releases of the distributions that stacks name, for example 0.8")
	flags.StringVar(&f.base, "base", "", "file with the configuration in the image that stacks specify, such as the output of "+
		"image inspect -o config; - for standard input")
	app.CompleteReleases(command, "release")
}

// SetImage adds the facts to the objects, and sets the release of the stacks that name a distribution.
func (f *ImageFlags) SetImage(m *dryrun.Manifests, stdin io.Reader) error {
	m.Image.Flags = true
	if f.base != "" {
		if images := m.LabeledImages(); len(images) > 1 {
			return fmt.Errorf("--base: the stacks use different images, %s, but the file contains the configuration of one image; "+
				"select the stacks of one image", strings.Join(images, ", "))
		}
		var err error
		if m.Image.Base, err = readBase(f.base, stdin); err != nil {
			return err
		}
	}
	if f.release == "" {
		return nil
	}
	match, err := release.LookupOffered(f.release)
	if err != nil {
		return fmt.Errorf("--release: %w", err)
	}
	m.Image.Release = match.Asked
	for i := range m.Stacks {
		if s := &m.Stacks[i]; s.Decoded && s.Object.Spec.Distribution.Name != "" {
			if s.Object, err = dryrun.WithRelease(s.Object, f.release); err != nil {
				return err
			}
		}
	}
	return nil
}

// readBase reads the configuration in --base.
func readBase(path string, stdin io.Reader) ([]byte, error) {
	const remedy = "set --base to a file with the server's config.yaml, such as the output of kubectl llamastack image inspect IMAGE -o config"
	data, err := files.Start(path, stdin, baseconfig.MaxSize+1)
	if err != nil {
		return nil, fmt.Errorf("--base: %w", err)
	}
	base, err := baseconfig.ParseUncached(data)
	if err != nil {
		return nil, fmt.Errorf("--base: %s: %w; %s", path, err, remedy)
	}
	for _, section := range []string{"version", "apis", "providers"} {
		if slices.Contains(yamlnode.Keys(base.Root()), section) && yamlnode.Text(base.Root(), "kind") == "" {
			return data, nil
		}
	}
	return nil, fmt.Errorf("--base: %s is not the configuration of a server; %s", path, remedy)
}
