package registry

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// inspect reads what the manifest, or the index, of an image leads to. It is pinned when it has the digest that it was
// asked for by.
func (r *Reader) inspect(ctx context.Context, session *session, content []byte, pinned, provider bool) (*Image, error) {
	single, err := decodeManifest(content)
	if errors.Is(err, errNoImage) && !pinned {
		return nil, errNoManifest // nothing says that these bytes are what they should be
	}
	if err != nil {
		return nil, err
	}
	if single.Manifests != nil {
		wanted := r.options.platform()
		entry, err := find(ctx, single.Manifests, func(d *descriptor) bool { return d.isFor(wanted) })
		switch {
		case err != nil:
			return nil, err
		case entry == nil || entry.Digest.Hex == "":
			return nil, fmt.Errorf("%w %s", errNoPlatform, wanted.String())
		}
		if content, _, err = session.manifest(ctx, entry.Digest.String()); err != nil {
			return nil, err
		}
		if single, err = decodeManifest(content); err != nil {
			return nil, err
		}
	}
	if provider {
		return providerOf(ctx, single, session.blob)
	}
	return contentOf(ctx, single, session.blob)
}

// providerOf is what the image of an external provider says of it, by its manifest.
func providerOf(ctx context.Context, of *manifest, blob fetch) (*Image, error) {
	config, err := readImageConfig(ctx, of, blob)
	if err != nil {
		return nil, err
	}
	label, err := config.provider(ctx)
	if err != nil {
		return nil, err
	}
	return &Image{Provider: label}, nil
}

// contentOf is what an image says of itself, by its manifest.
func contentOf(ctx context.Context, of *manifest, blob fetch) (*Image, error) {
	config, err := readImageConfig(ctx, of, blob)
	if err != nil {
		return nil, err
	}
	labels, err := config.labels(ctx)
	if err != nil {
		return nil, err
	}
	result := &Image{}
	if result.Entrypoint, err = config.entrypoint(); err != nil {
		return nil, err
	}
	for _, label := range []string{LabelRelease, LabelImageVersion} {
		if labels[label] != "" {
			result.Release, result.ReleaseLabel = shorten(labels[label]), label
			break
		}
	}
	from, err := configSource(labels)
	if err != nil || from == nil {
		return result, err
	}
	result.ConfigLabel, result.Config = from.label, from.data
	if from.file != "" {
		result.Config, err = fromLayer(ctx, of, from, blob)
	}
	return result, err
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
