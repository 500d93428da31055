package registry

import (
	"context"
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// follow reads what a Reader needs from an image, or from an index of images: the metadata of an external provider, or
// the content of a server image.
func (t *trail) follow(ctx context.Context, top *manifest, wanted v1.Platform, provider bool) (*Image, error) {
	single, config, _, err := t.imageConfig(ctx, top, wanted)
	if err != nil {
		return nil, err
	}
	if provider {
		label, err := config.provider(ctx)
		return &Image{Provider: label}, err
	}
	return t.content(ctx, single, config)
}

// imageConfig reads the configuration of an image. In an index, it reads the image for a platform. It also returns the
// manifest of the image, and the platform that the index specifies.
func (t *trail) imageConfig(
	ctx context.Context, single *manifest, wanted v1.Platform,
) (*manifest, *imageConfig, *platform, error) {
	var of *platform
	if single.Manifests != nil {
		entry, err := find(ctx, single.Manifests, func(d *descriptor) bool { return d.isFor(wanted) })
		switch {
		case err != nil:
			return nil, nil, nil, err
		case entry == nil || entry.Digest.Hex == "":
			return nil, nil, nil, fmt.Errorf("%w %s", errNoPlatform, wanted.String())
		}
		if single, _, err = t.manifest(ctx, entry.Digest.String()); err != nil {
			return nil, nil, nil, err
		}
		of = entry.Platform
	}
	switch {
	case single.Config == nil || single.Config.Digest.Hex == "":
		return nil, nil, nil, errNoImage
	case single.Config.Size > maxManifest:
		return nil, nil, nil, tooLarge("configuration of the image", maxManifest)
	}
	var content []byte
	err := t.blob(ctx, PartConfig, *single.Config, func(body io.Reader) error {
		var err error
		content, err = io.ReadAll(body)
		return err
	})
	if err != nil {
		return nil, nil, nil, err
	}
	config, err := decodeImageConfig(content)
	return single, config, of, err
}

// content returns the content of an image, read from its manifest and its configuration.
func (t *trail) content(ctx context.Context, of *manifest, config *imageConfig) (*Image, error) {
	labels, err := config.labels(ctx)
	if err != nil {
		return nil, err
	}
	result := &Image{}
	if result.Entrypoint, err = config.entrypoint(); err != nil {
		return nil, err
	}
	result.Release, result.ReleaseLabel = releaseOf(labels)
	from, err := configSource(labels)
	if err != nil || from == nil {
		return result, err
	}
	if result.ConfigVersion, err = configVersion(labels); err != nil {
		return nil, err
	}
	result.ConfigLabel, result.ConfigFile, result.Config = from.label, from.file, from.data
	if from.file != "" {
		result.Config, err = t.fromLayer(ctx, of, from)
	}
	return result, err
}

// releaseOf returns the release of the server and the label that specifies it.
func releaseOf(labels map[string]string) (release, label string) {
	for _, label := range []string{LabelRelease, LabelImageVersion} {
		if labels[label] != "" {
			return shorten(labels[label]), label
		}
	}
	return "", ""
}
