package cli

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// imageFlags are the flags for facts about images, which the commands for manifests do not read.
type imageFlags struct {
	release string
	bases   []string
}

func (f *imageFlags) add(command *cobra.Command) {
	flags := command.Flags()
	flags.StringVar(&f.release, "release", "", "server release to use for the images that stacks specify, and instead of "+
		"the releases of the distributions that stacks name, for example 0.8")
	flags.StringArrayVar(&f.bases, "base", nil, "file with the configuration of the images that stacks specify, or with "+
		"the output of image inspect -o yaml for one image; - for standard input; can be repeated")
	completeReleases(command, "release")
}

// apply adds the facts to the objects. It sets the release of the stacks that name a distribution.
func (f *imageFlags) apply(m *dryrun.Manifests, stdin io.Reader, p printer) error {
	m.TakesBase = true
	var whole string
	for _, path := range f.bases {
		image, err := readImage(path, stdin)
		if _, unopened := errors.AsType[*fs.PathError](err); unopened {
			return fmt.Errorf("--base: %w", err)
		}
		if err != nil {
			return &rejection{problems: []string{"--base: " + path + ": " + err.Error()}, summary: "the configuration of the image is unknown"}
		}
		if image.Name == "" && whole != "" {
			return fmt.Errorf("--base: %s and %s do not name an image, so it is not known which file belongs to which stack; "+
				"set --base to the output of kubectl llamastack image inspect IMAGE -o yaml for each image", whole, path)
		}
		if image.Name == "" {
			whole = path
		} else if !slices.ContainsFunc(m.Stacks, func(s dryrun.Stack) bool { return s.Object.Spec.Distribution.Image == image.Name }) {
			p.note(fmt.Sprintf("--base: %s: no stack sets spec.distribution.image to %q", path, image.Name))
		}
		m.Images = append(m.Images, image)
	}
	return f.applyRelease(m)
}

func (f *imageFlags) applyRelease(m *dryrun.Manifests) error {
	if f.release == "" {
		return nil
	}
	match, err := release.LookupOffered(f.release)
	if err != nil {
		return fmt.Errorf("--release: %w", err)
	}
	m.Images = append(m.Images, dryrun.Image{Release: match.Asked})
	for i := range m.Stacks {
		if s := &m.Stacks[i]; s.Decoded && s.Object.Spec.Distribution.Name != "" {
			if s.Object, err = dryrun.WithRelease(s.Object, f.release); err != nil {
				return err
			}
		}
	}
	return nil
}

// readImage reads a file with a configuration, or with a report of image inspect.
func readImage(path string, stdin io.Reader) (dryrun.Image, error) {
	data, err := readStart(path, stdin, maxReport+1)
	if err != nil {
		return dryrun.Image{}, err
	}
	if len(data) > maxReport {
		return dryrun.Image{}, fmt.Errorf("is larger than %d bytes, which is the limit; use a smaller file", maxReport)
	}
	report := &imageReport{}
	if yaml.Unmarshal(data, report) == nil && report.Image != "" && report.Digest != "" {
		return report.facts()
	}
	const remedy = "write the configuration of the server, or the output of kubectl llamastack image inspect IMAGE -o yaml, to this file"
	base, err := baseconfig.ParseUncached(data)
	if err != nil {
		return dryrun.Image{}, fmt.Errorf("%w; %s", err, remedy)
	}
	for _, key := range []string{"kind", "apiVersion"} {
		if yamlnode.Text(base.Root(), key) != "" {
			return dryrun.Image{}, errors.New("is a manifest of Kubernetes, not the configuration of a server; " + remedy)
		}
	}
	return dryrun.Image{Base: data}, nil
}

// maxReport bounds the size of a report in bytes. It can contain a configuration for each of several platforms.
const maxReport = 8 * baseconfig.MaxSize

// facts returns the facts in a report. It returns an error if the report contains no configuration, or different ones
// for different platforms.
func (r *imageReport) facts() (dryrun.Image, error) {
	found := dryrun.Image{Name: strings.TrimPrefix(r.Image, "docker://")}
	if strings.HasPrefix(r.Image, "oci:") {
		found.Name = "" // stacks name the image by its place in a registry
	}
	for i := range r.Images {
		one := &r.Images[i]
		if one.Config == nil || one.Config.Content == "" {
			continue
		}
		if found.Base != nil && string(found.Base) != one.Config.Content {
			return found, errors.New("the platforms of the image have different configurations; select one with image inspect --platform")
		}
		found.Base = []byte(one.Config.Content)
		if one.Release != nil && (one.Release.Label != "" || one.Release.Version != "") {
			found.Release = one.Release.Version
		}
	}
	if found.Base == nil {
		return found, fmt.Errorf("the report about image %q contains no configuration; run image inspect of this version on an image "+
			"with a configuration in its labels, or set --base to a file with the configuration", r.Image)
	}
	return found, nil
}
