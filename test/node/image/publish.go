package image

import (
	"context"
	"fmt"
	"os"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
)

// Published describes an image that was pushed to a registry.
type Published struct {
	// Reference is the name of the image, with its tag.
	Reference string
	// Size is the size of the image in the registry, in bytes.
	Size int64
	// Took is the time that it took to build and push the image.
	Took time.Duration
}

// repositories contains the repository for each kind of image.
var repositories = map[string]string{
	"operator": "llama-stack-k8s-operator", "databases": "databases", "standin": "standin", "server": "llama-stack",
}

// theOnlyTag is the tag of images that do not depend on the server release.
const theOnlyTag = "test"

// Publish builds images and pushes them to the top level of the given registry (host:port). The names of the images are
// operator, databases, standin@0.7.3, and server@0.7.3, where 0.7.3 is a server release. The parameter version is the
// version that the operator reports. The keys of the result are the names of the images.
func Publish(ctx context.Context, registry, version string, wanted ...string) (map[string]Published, error) {
	folder, err := os.MkdirTemp("", "llama-stack-image-")
	if err != nil {
		return nil, fmt.Errorf("create the folder for layers: %w", err)
	}
	defer os.RemoveAll(folder)
	p := publisher{registry: registry, done: map[string]Published{}}
	if standIns := releasesOf("standin", wanted); len(standIns) > 0 {
		started := time.Now()
		images, err := StandIns(ctx, folder, standIns...)
		if err != nil {
			return nil, err
		}
		for _, release := range standIns {
			if err := p.push(ctx, "standin", release, images[release], started); err != nil {
				return nil, err
			}
		}
	}
	for _, release := range releasesOf("server", wanted) {
		started := time.Now()
		image, err := Server(ctx, folder, release)
		if err != nil {
			return nil, err
		}
		if err := p.push(ctx, "server", release, image, started); err != nil {
			return nil, err
		}
	}
	for _, only := range []struct {
		kind  string
		build func() (v1.Image, error)
	}{
		{"operator", func() (v1.Image, error) { return Operator(ctx, folder, version) }},
		{"databases", func() (v1.Image, error) { return Databases(ctx, folder) }},
	} {
		if !slices.Contains(wanted, only.kind) {
			continue
		}
		started := time.Now()
		image, err := only.build()
		if err != nil {
			return nil, err
		}
		if err := p.push(ctx, only.kind, theOnlyTag, image, started); err != nil {
			return nil, err
		}
	}
	for _, each := range wanted {
		if _, known := p.done[each]; !known {
			return nil, fmt.Errorf("publish %q: want operator, databases, standin@<release> or server@<release>", each)
		}
	}
	return p.done, nil
}

// releasesOf returns the requested releases for a kind of image.
func releasesOf(kind string, wanted []string) []string {
	var releases []string
	for _, each := range wanted {
		if release, found := strings.CutPrefix(each, kind+"@"); found && !slices.Contains(releases, release) {
			releases = append(releases, release)
		}
	}
	return releases
}

type publisher struct {
	registry string
	done     map[string]Published
}

func (p *publisher) push(ctx context.Context, kind, tag string, image v1.Image, started time.Time) error {
	reference := p.registry + "/" + repositories[kind] + ":" + tag
	if err := Push(ctx, reference, image); err != nil {
		return err
	}
	size, err := Size(image)
	if err != nil {
		return err
	}
	key := kind
	if tag != theOnlyTag {
		key += "@" + tag
	}
	p.done[key] = Published{Reference: reference, Size: size, Took: time.Since(started)}
	return nil
}
