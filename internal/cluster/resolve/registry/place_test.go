package registry

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-containerregistry/pkg/name"
)

const digest = "@sha256:0000000000000000000000000000000000000000000000000000000000000000"

// placeCases are the cases of TestPlaces.
var placeCases = []struct {
	name    string
	options Options
	images  []string
	want    string // empty means that the image is not allowed
}{
	{
		"documented", rewriting("docker.io/ogxai", "registry.example.com/mirror"), hubImages("ogxai/server:1"),
		"registry.example.com/mirror/server:1",
	},
	{
		"index.docker.io", rewriting("index.docker.io/ogxai", "registry.example.com/mirror"), hubImages("ogxai/server:1"),
		"registry.example.com/mirror/server:1",
	},
	{
		"without a host", rewriting("ogxai", "registry.example.com/mirror"), hubImages("ogxai/server:1"),
		"registry.example.com/mirror/server:1",
	},
	{
		"in capitals", rewriting("Docker.IO/ogxai", "registry.example.com/mirror"),
		[]string{"docker.io/ogxai/server:1"},
		"registry.example.com/mirror/server:1",
	},
	{
		"the image's host in capitals", rewriting("quay.io", "registry.example.com"),
		[]string{"Quay.io/a/b:1"},
		"registry.example.com/a/b:1",
	},
	{
		"all of Docker Hub", rewriting("docker.io", "registry.example.com/hub"), hubImages("ogxai/server:1"),
		"registry.example.com/hub/ogxai/server:1",
	},
	{"official images of Docker Hub", rewriting("docker.io", "registry.example.com/hub"), hubImages("nginx:1", "library/nginx:1"), "registry.example.com/hub/library/nginx:1"},
	{
		"library", rewriting("docker.io/library", "registry.example.com/hub"), hubImages("nginx:1", "library/nginx:1"),
		"registry.example.com/hub/nginx:1",
	},
	{
		"an image without library", rewriting("docker.io/nginx", "registry.example.com/web"),
		hubImages("nginx:1", "library/nginx:1"), "registry.example.com/web:1",
	},
	{
		"an organization with the name of an image", rewriting("docker.io/nginx", "registry.example.com/web"), hubImages("nginx/unit:1"),
		"registry.example.com/web/unit:1",
	},
	{"the longest prefix", Options{Rewrite: map[string]string{
		"docker.io/library": "a.example.com/a",
		"docker.io/nginx":   "b.example.com/b",
	}}, hubImages("nginx:1"), "b.example.com/b:1"},
	{"an explicit docker.io takes precedence over an implied one", Options{Rewrite: map[string]string{
		"docker.io/library/nginx": "a.example.com/a",
		"docker.io/nginx":         "b.example.com/b",
	}}, hubImages("nginx:1"), "a.example.com/a:1"},
	{"two spellings of one repository", Options{Rewrite: map[string]string{
		"index.docker.io/a": "a.example.com/a",
		"docker.io/a":       "b.example.com/b",
	}}, hubImages("a/c:1"), "b.example.com/b/c:1"},
	{
		"to Docker Hub", rewriting("quay.io/team", "docker.io/ogxai"),
		[]string{"quay.io/team/server:1"},
		"index.docker.io/ogxai/server:1",
	},
	{
		"with a digest", rewriting("docker.io/ogxai", "registry.example.com/mirror"),
		hubImages("ogxai/server:1"+digest, "ogxai/server"+digest), "registry.example.com/mirror/server" + digest,
	},
	{
		"a prefix that ends inside a name", rewriting("docker.io/ogx", "registry.example.com/mirror"),
		hubImages("ogxai/server:1"), "index.docker.io/ogxai/server:1",
	},
	{
		"another registry whose name begins with the prefix", rewriting("docker.io", "registry.example.com"),
		[]string{"docker.io.example.com/a/b:1"},
		"docker.io.example.com/a/b:1",
	},

	{
		"allowed",
		Options{Allow: []string{"docker.io/ogxai"}},
		hubImages("ogxai/server:1"),
		"index.docker.io/ogxai/server:1",
	},
	{
		"allowed as index.docker.io",
		Options{Allow: []string{"index.docker.io/ogxai"}},
		hubImages("ogxai/server:1"),
		"index.docker.io/ogxai/server:1",
	},
	{
		"allowed without a host",
		Options{Allow: []string{"ogxai"}},
		hubImages("ogxai/server:1"),
		"index.docker.io/ogxai/server:1",
	},
	{
		"all of Docker Hub allowed",
		Options{Allow: []string{"docker.io"}},
		hubImages("ogxai/server:1"),
		"index.docker.io/ogxai/server:1",
	},
	{
		"an image allowed without library",
		Options{Allow: []string{"docker.io/nginx"}},
		hubImages("nginx:1", "library/nginx:1"), "index.docker.io/library/nginx:1",
	},
	{
		"library allowed",
		Options{Allow: []string{"docker.io/library"}},
		hubImages("nginx:1"),
		"index.docker.io/library/nginx:1",
	},
	{"library is not the whole registry", Options{Allow: []string{"docker.io/library"}}, hubImages("ogxai/server:1"), ""},
	{"another organization", Options{Allow: []string{"docker.io/ogx"}}, hubImages("ogxai/server:1"), ""},
	{
		"another registry",
		Options{Allow: []string{"docker.io"}},
		[]string{"docker.io.example.com/a/b:1", "quay.io/docker.io/b:1"},
		"",
	},
	{
		"the rewritten name is allowed",
		Options{
			Allow:   []string{"docker.io/ogxai"},
			Rewrite: map[string]string{"quay.io/team": "docker.io/ogxai"},
		},
		[]string{"quay.io/team/server:1"},
		"index.docker.io/ogxai/server:1",
	},
	{"the name before the rewrite is not allowed", Options{
		Allow:   []string{"docker.io/ogxai"},
		Rewrite: map[string]string{"docker.io/ogxai": "quay.io/team"},
	}, hubImages("ogxai/server:1"), ""},
}

// TestPlaces checks which repository is read for an image, for each way to write the options and the image name.
func TestPlaces(t *testing.T) {
	for _, tc := range placeCases {
		for _, image := range tc.images {
			reader := New(tc.options)
			ref, err := reader.reference(image)
			reader.Close()
			var refused *RefusedError
			switch {
			case tc.want == "" && !errors.As(err, &refused):
				t.Errorf("%s: %s: got %v, %v, want an error", tc.name, image, ref, err)
			case tc.want != "" && (err != nil || ref.Name() != tc.want):
				t.Errorf("%s: %s: got %v, %v, want %s", tc.name, image, ref, err, tc.want)
			}
		}
	}
}

func rewriting(from, to string) Options { return Options{Rewrite: map[string]string{from: to}} }

// hubImages returns the names of some Docker Hub images, with the host written in each possible way.
func hubImages(images ...string) []string {
	var result []string
	for _, image := range images {
		for _, host := range []string{"", "docker.io/", "index.docker.io/"} {
			result = append(result, host+image)
		}
	}
	return result
}

// TestRefusedHubImage checks that the error for a forbidden image shows the host docker.io, and not index.docker.io.
func TestRefusedHubImage(t *testing.T) {
	reader := New(Options{Allow: []string{"quay.io"}})
	defer reader.Close()
	for _, image := range hubImages("nginx:1") {
		if _, err := reader.reference(image); err == nil || !strings.Contains(err.Error(), `repository "docker.io/library/nginx" is not in registries.allow`) {
			t.Errorf("%s: got %v", image, err)
		}
	}
}

// TestLeavingAllowedPlace checks that the reader rejects a path with "..", "." or an empty part, so that no path leaves
// the allowed repositories, and any other text that is not the name of an image.
func TestLeavingAllowedPlace(t *testing.T) {
	reader := New(Options{Allow: []string{"quay.io/team"}})
	defer reader.Close()
	for _, image := range []string{
		"quay.io/team/../other/server:1", "quay.io/team/./server:1", "quay.io/team//server:1", "quay.io/team/UPPER:1",
	} {
		if ref, err := reader.reference(image); err == nil {
			t.Errorf("%s: the reader would read %v", image, ref)
		}
	}
}

func TestInsecurePlaces(t *testing.T) {
	reader := New(Options{Insecure: []string{"docker.io", "Registry.example.com:5000"}})
	defer reader.Close()
	for host, want := range map[string]bool{
		"index.docker.io": true, "registry.example.com:5000": true, "REGISTRY.example.com:5000": true,
		"registry.example.com": false, "example.com:5000": false, "auth.docker.io": false,
	} {
		if reader.options.isInsecure(host) != want {
			t.Errorf("%s: want %t", host, want)
		}
	}
}

// TestPullSecretKeys checks which keys in a pull Secret match an image on Docker Hub. They are the same as for the
// kubelet.
func TestPullSecretKeys(t *testing.T) {
	for key, want := range map[string]bool{
		"https://index.docker.io/v1/": true, "https://index.docker.io/v1": true, "http://index.docker.io/v1/": true,
		"index.docker.io/v1/":         true,
		"https://index.docker.io/v2/": true, "https://index.docker.io/": true, "index.docker.io": true, "docker.io": true,
		"https://docker.io": true, "docker.io/": true, "https://docker.io/v2/": true, "Docker.io": true,
		"docker.io/ogxai": true, "index.docker.io/ogxai": true, "https://index.docker.io/v1/ogxai": true,
		"docker.io/ogxai/server": true,
		"docker.io/ogx":          false, "docker.io/library": false, "docker.io/other": false, "quay.io": false,
		"ogxai": false,
		"":      false,
	} {
		keychain := &Keychain{}
		if err := keychain.Add([]byte(`{"auths":{"` + key + `":{"username":"robot","password":"p"}}}`)); err != nil {
			t.Fatal(err)
		}
		for _, image := range hubImages("ogxai/server") {
			repository, err := name.NewRepository(image)
			if err != nil {
				t.Fatal(err)
			}
			found, err := keychain.Resolve(repository)
			if err != nil {
				t.Fatal(err)
			}
			config, err := found.Authorization()
			if err != nil {
				t.Fatal(err)
			}
			if got := config.Username == "robot"; got != want {
				t.Errorf("%q for %s: %t, want %t", key, image, got, want)
			}
		}
	}
}
