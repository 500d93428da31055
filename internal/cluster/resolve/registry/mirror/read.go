package mirror

import (
	"cmp"
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/imagename"
)

// These are the kinds of mirror sets.
const (
	KindDigest = "ImageDigestMirrorSet"
	KindTag    = "ImageTagMirrorSet"
	KindPolicy = "ImageContentSourcePolicy"
)

// maxSources bounds the number of sources in a cluster. A node has fewer sources, because one file of limited size
// contains all sources for a node.
const maxSources = 5000

// neverContact is the policy of a source that must not receive requests.
const neverContact = "NeverContactSource"

// Object is a mirror set in a cluster.
type Object struct {
	Kind, Name string
	// Spec is the spec of the object as JSON.
	Spec []byte
}

// entry is one source of a mirror set of any kind.
type entry struct {
	Source             string   `json:"source"`
	Mirrors            []string `json:"mirrors"`
	MirrorSourcePolicy string   `json:"mirrorSourcePolicy"`
}

// Read merges all mirror sets into one Set. It skips and counts objects, sources and mirrors in a form that no node
// accepts, and sources that exceed maxSources. If several objects name the same source, the Set contains their mirrors
// in the order of the objects' kinds and names.
func Read(objects []Object) (set Set, ignored int) {
	objects = slices.Clone(objects)
	slices.SortFunc(objects, func(a, b Object) int {
		return cmp.Or(strings.Compare(a.Kind, b.Kind), strings.Compare(a.Name, b.Name))
	})
	bySource := map[string]*Source{}
	for _, object := range objects {
		entries, err := entriesOf(object)
		if err != nil {
			ignored++
			continue
		}
		for _, one := range entries {
			ignored += merge(bySource, object.Kind, one)
		}
	}
	for _, source := range bySource {
		set = append(set, *source)
	}
	slices.SortFunc(set, func(a, b Source) int { return strings.Compare(a.Prefix, b.Prefix) })
	return set, ignored
}

// merge adds an entry to its source, and returns the number of skipped entries and mirrors.
func merge(bySource map[string]*Source, kind string, one entry) (ignored int) {
	prefix := normal(one.Source)
	known := bySource[prefix]
	if prefix == "" || known == nil && len(bySource) == maxSources {
		return 1
	}
	if known == nil {
		known = &Source{Prefix: prefix}
		bySource[prefix] = known
	}
	return known.add(kind, one)
}

func entriesOf(object Object) ([]entry, error) {
	var spec struct {
		ImageDigestMirrors      []entry `json:"imageDigestMirrors"`
		ImageTagMirrors         []entry `json:"imageTagMirrors"`
		RepositoryDigestMirrors []entry `json:"repositoryDigestMirrors"`
	}
	if len(object.Spec) == 0 {
		return nil, nil
	}
	err := json.Unmarshal(object.Spec, &spec)
	switch object.Kind {
	case KindDigest:
		return spec.ImageDigestMirrors, err
	case KindTag:
		return spec.ImageTagMirrors, err
	default:
		return spec.RepositoryDigestMirrors, err
	}
}

// add adds the mirrors of an entry, and returns the number of mirrors in a form that no node accepts.
func (s *Source) add(kind string, one entry) (ignored int) {
	s.Never = s.Never || one.MirrorSourcePolicy == neverContact
	into := &s.Digest
	if kind == KindTag {
		into = &s.Tag
	}
	for _, text := range one.Mirrors {
		mirror := normal(text)
		switch {
		case mirror == "" || strings.HasPrefix(mirror, "*"):
			ignored++
		case !slices.Contains(*into, mirror):
			*into = append(*into, mirror)
		}
	}
	return ignored
}

// form matches the sources and mirrors that OpenShift accepts: *.domain, or host[:port][/path].
var form = regexp.MustCompile(`^(\*(\.[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)+|` +
	`[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?(\.[a-zA-Z0-9]([a-zA-Z0-9-]*[a-zA-Z0-9])?)*(:[0-9]{1,5})?(/[a-z0-9]+([._-]+[a-z0-9]+)*)*)$`)

// maxLength bounds the length of a source or a mirror.
const maxLength = 512

// normal returns the normal form of a source or a mirror, or an empty string if OpenShift does not accept the text as
// either. The first element is always the host, even if it does not look like a host.
func normal(text string) string {
	if len(text) > maxLength || !form.MatchString(text) {
		return ""
	}
	host, path, below := strings.Cut(text, "/")
	if !below {
		return imagename.Registry(host)
	}
	return imagename.Registry(host) + "/" + path
}
