package registry

import (
	"context"
	"fmt"
	"io"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// forPlatform finds the image for a platform in an index. It returns the manifest of the image, and the platform that
// the index entry specifies. If the parameter top is the manifest of a single image, forPlatform returns it unchanged.
func forPlatform(ctx context.Context, way *trail, top *manifest, wanted v1.Platform) (*manifest, *platform, error) {
	if top.Manifests == nil {
		return top, nil, nil
	}
	entry, err := find(ctx, top.Manifests, func(d *descriptor) bool { return d.isFor(wanted) })
	switch {
	case err != nil:
		return nil, nil, err
	case entry == nil || entry.Digest.Hex == "":
		return nil, nil, fmt.Errorf("%w %s", errNoPlatform, wanted.String())
	}
	single, _, err := way.manifest(ctx, entry.Digest.String())
	return single, entry.Platform, err
}

// contentOf returns the content of an image, read from its manifest and its configuration.
func contentOf(ctx context.Context, of *manifest, config *imageConfig, layer fetch) (*Image, error) {
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
		result.Config, err = fromLayer(ctx, of, from, layer)
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

func readImageConfig(ctx context.Context, of *manifest, blob fetch) (*imageConfig, error) {
	switch {
	case of.Config == nil || of.Config.Digest.Hex == "":
		return nil, errNoImage
	case of.Config.Size > maxManifest:
		return nil, tooLarge("configuration of the image", maxManifest)
	}
	var content []byte
	err := blob(ctx, *of.Config, func(body io.Reader) error {
		var err error
		content, err = io.ReadAll(body)
		return err
	})
	if err != nil {
		return nil, err
	}
	return decodeImageConfig(content)
}
