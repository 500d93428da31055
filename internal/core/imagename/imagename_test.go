package imagename_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/imagename"
)

func TestRepository(t *testing.T) {
	const hash = "@sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	for image, want := range map[string]string{
		"redis":                             "index.docker.io/library/redis",
		"redis:7" + hash:                    "index.docker.io/library/redis",
		"docker.io/redis":                   "index.docker.io/library/redis",
		"Docker.io/redis":                   "index.docker.io/library/redis",
		"Index.Docker.io/library/redis":     "index.docker.io/library/redis",
		"ogxai/server":                      "index.docker.io/ogxai/server",
		"localhost/a":                       "localhost/a",
		"Registry.example.com:5000/a/b/c:1": "registry.example.com:5000/a/b/c",
		"quay.io/team/server" + hash:        "quay.io/team/server",
		"":                                  "",
		"quay.io/Team/server":               "",
		"quay.io/team/../other":             "",
		"quay.io/team/./server":             "",
		"quay.io/team//server":              "",
		"https://quay.io/team/server":       "",
		"user@quay.io/team/server":          "",
	} {
		got, err := imagename.Repository(image)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q, %v, want %q", image, got, err, want)
		}
	}
}

func TestPrefixes(t *testing.T) {
	for text, want := range map[string][]string{
		"docker.io":              {"index.docker.io"},
		"index.docker.io/":       {"index.docker.io"},
		"Docker.IO/ogxai/server": {"index.docker.io/ogxai/server"},
		"ogxai/server":           {"index.docker.io/ogxai/server"},
		"redis":                  {"index.docker.io/redis", "index.docker.io/library/redis"},
		"localhost":              {"localhost"},
		"Quay.io/team":           {"quay.io/team"},
		"[FD00::1]:5000":         {"[fd00::1]:5000"},
	} {
		if diff := cmp.Diff(want, imagename.Prefixes([]string{text})); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

func TestRewrites(t *testing.T) {
	got := imagename.Rewrites(map[string]string{
		"docker.io/a": "Quay.io/first", "index.docker.io/a": "quay.io/second", "redis": "quay.io/implied",
		"library/redis": "docker.io",
	})
	want := map[string]string{
		"index.docker.io/a": "quay.io/first", "index.docker.io/library/a": "quay.io/first",
		"index.docker.io/redis": "quay.io/implied", "index.docker.io/library/redis": "index.docker.io",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestFamiliar(t *testing.T) {
	for name, want := range map[string]string{
		"index.docker.io": "docker.io", "index.docker.io/ogxai/a": "docker.io/ogxai/a",
		"index.docker.io.example.com/a": "index.docker.io.example.com/a", "quay.io/a": "quay.io/a",
	} {
		if got := imagename.Familiar(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// FuzzRepository checks that normalizing a normal form does not change it, and that a normal form is below each of its
// prefixes.
func FuzzRepository(f *testing.F) {
	for _, image := range []string{
		"redis", "Docker.io/a/b:1", "quay.io/a/../b", "localhost:5000/a", "a:1@sha256:0",
		"[::1]:80/a",
	} {
		f.Add(image)
	}
	f.Fuzz(func(t *testing.T, image string) {
		repository, err := imagename.Repository(image)
		if err != nil {
			return
		}
		if again, err := imagename.Repository(repository); err != nil || again != repository {
			t.Errorf("%q: %q becomes %q, %v", image, repository, again, err)
		}
		for i := range repository {
			if repository[i] == '/' && !imagename.HasAnyPrefix(repository, imagename.Prefixes([]string{repository[:i]})) {
				t.Errorf("%q is not below %q", repository, repository[:i])
			}
		}
		if strings.Contains(repository, "/../") {
			t.Errorf("%q has a path that leaves the repository", repository)
		}
	})
}
