//go:build node

package docs

import (
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/test/docs/script"
	"github.com/llamastack/llama-stack-k8s-operator/test/node/image"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/external"
)

var (
	imageLine   = regexp.MustCompile(`(?:\bimage: *|--image=)"?([a-z0-9][^\s",}]*)`)
	versionLine = regexp.MustCompile(`\b(?:version|serverVersion): *"?([0-9]+\.[0-9]+(?:\.[0-9]+)?)\b`)
)

// publish pushes a replacement for every image that the pods on a page need.
func (s *nodeSite) publish(t *testing.T, p page) {
	t.Helper()
	parsed := script.Parse(p.text)
	versions := []string{""}
	for _, match := range versionLine.FindAllStringSubmatch(p.text, -1) {
		versions = append(versions, match[1])
	}
	usesDefault := strings.Contains(p.text, "{name: starter}")
	defaultImage := ""
	for _, version := range versions {
		resolved, err := distribution.Resolve("starter", "", version, nil)
		if err != nil {
			continue // the text is not a server version
		}
		name := publicName(resolved.Image)
		_, tag, _ := strings.Cut(filepath.Base(resolved.Image), ":")
		s.push(t, name, func() v1.Image { return s.standIn(t, tag) })
		if parsed.RealServer && (version != "" || usesDefault) {
			s.push(t, strings.Replace(name, "/distribution-", "/real-", 1), func() v1.Image { return s.realServer(t, tag) })
		}
		if version == "" {
			defaultImage = tag
		}
	}
	for _, match := range imageLine.FindAllStringSubmatch(p.text+serverManifests(t, parsed), -1) {
		name := publicName(match[1])
		s.push(t, name, func() v1.Image { return s.replacement(t, name, defaultImage) })
	}
}

// realServer returns the image of the real server for the release line of a tag.
func (s *nodeSite) realServer(t *testing.T, tag string) v1.Image {
	t.Helper()
	match, err := release.Lookup(tag)
	testutil.Must(t, err)
	built, err := image.Starter(t.Context(), s.folder, match.Release.Version)
	testutil.Must(t, err)
	return built
}

// replacement returns the image that replaces a public image: an image with the same programs, or a stand-in for a
// server.
func (s *nodeSite) replacement(t *testing.T, name, release string) v1.Image {
	t.Helper()
	repository, _, _ := strings.Cut(strings.TrimPrefix(name, "library/"), ":")
	if repository == "custom-provider" {
		return s.provider(t)
	}
	built, err := s.public.Image(t.Context(), repository)
	if built == nil && err == nil {
		built = s.standIn(t, release)
		for _, server := range []string{"ollama", "vllm"} {
			if err == nil && strings.HasPrefix(name, server+"/") {
				built, err = image.ModelServer(built, server)
			}
		}
	}
	testutil.Must(t, err)
	return built
}

// provider returns the image of an external provider that answers chat requests. The provider needs no configuration.
func (s *nodeSite) provider(t *testing.T) v1.Image {
	t.Helper()
	const module, required = "acme/echo/__init__.py", "greeting: str"
	wheel := external.EchoWheel()
	wheel.Files[module] = strings.Replace(wheel.Files[module], required, required+` = "Hello"`, 1)
	provider := image.ExternalProvider{Files: map[string][]byte{}}
	for path, content := range external.New(external.EchoSpec(), wheel, external.Words()) {
		provider.Files[path] = []byte(content)
	}
	built, err := provider.Image(t.Context(), s.folder)
	testutil.Must(t, err)
	return built
}

// publicName returns the name of an image without its registry. The node pulls the image from the mirror by this name.
func publicName(reference string) string {
	first, rest, found := strings.Cut(reference, "/")
	switch {
	case !found:
		return "library/" + reference
	case strings.ContainsAny(first, ".:") || first == "localhost":
		return rest
	default:
		return reference
	}
}

// standIn returns the image of the stand-in for a server release.
func (s *nodeSite) standIn(t *testing.T, release string) v1.Image {
	t.Helper()
	if s.standIns[release] == nil {
		wanted := slices.Sorted(maps.Keys(s.standIns))
		built, err := image.StandIns(t.Context(), s.folder, append(wanted, release)...)
		testutil.Must(t, err)
		s.standIns = built
	}
	return s.standIns[release]
}

// push builds and pushes an image, once for each name.
func (s *nodeSite) push(t *testing.T, name string, build func() v1.Image) {
	t.Helper()
	if s.pushed[name] {
		return
	}
	testutil.Must(t, image.Push(t.Context(), s.registry+"/"+name, build()))
	s.pushed[name] = true
}
