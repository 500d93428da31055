package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/worktree"
	"github.com/llamastack/llama-stack-k8s-operator/test/docs/script"
)

const (
	before = "# Changelog\n\n## [Unreleased]\n"
	after  = "# Changelog\n\n## [Unreleased]\n\n## [1.3.0-rc.1] - 2026-01-03\n\n## [1.2.0] - 2026-01-02\n\n## [1.1.0] - 2026-01-01\n"
)

// repository returns a copy of the pages of this work tree, with another changelog.
func repository(t *testing.T, changelog string) string {
	t.Helper()
	folder := t.TempDir()
	if err := os.CopyFS(filepath.Join(folder, "docs"), os.DirFS(filepath.Join(worktree.Root(), "docs"))); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "README.md"), read(t, filepath.Join(worktree.Root(), "README.md")))
	write(t, filepath.Join(folder, "CHANGELOG.md"), changelog)
	return folder
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// pages returns the pages with generated texts, keyed by their paths.
func pages(t *testing.T, folder string) map[string]string {
	t.Helper()
	found := map[string]string{}
	paths := []string{filepath.Join(folder, "README.md")}
	for _, pattern := range []string{"docs/*.md", "docs/*/*.md"} {
		more, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			t.Fatal(err)
		}
		paths = append(paths, more...)
	}
	for _, path := range paths {
		if text := read(t, path); section.MatchString(text) {
			found[strings.TrimPrefix(path, folder+"/")] = text
		}
	}
	return found
}

var otherVersion = regexp.MustCompile(`released yet|make (?:image|install|build)|1\.[13]\.0`)

// The first command on the page about the installation installs the newest release, or builds an image if there is no
// release. The texts for the other case are gone.
func TestPages(t *testing.T) {
	checkout, release := repository(t, before), repository(t, after)
	for _, folder := range []string{checkout, release} {
		if err := run(folder); err != nil {
			t.Fatal(err)
		}
		for path, text := range pages(t, folder) {
			if problems := script.Parse(text).Problems; len(problems) > 0 {
				t.Errorf("%s: %v", path, problems)
			}
		}
	}
	const page = "docs/how-to/install.md"
	files := "https://github.com/llamastack/llama-stack-k8s-operator/releases/download/v1.2.0/"
	for folder, want := range map[string]string{
		checkout: "make image PUSH=1 IMAGE=registry.example.com/llama-stack-k8s-operator:dev",
		release:  "kubectl apply --server-side -f " + files + "install.yaml",
	} {
		if got := script.Parse(pages(t, folder)[page]).Blocks[0].Commands[0].Text; got != want {
			t.Errorf("the first command is %q, want %q", got, want)
		}
	}
	for path, text := range pages(t, release) {
		for _, generated := range section.FindAllString(text, -1) {
			if found := otherVersion.FindString(generated); found != "" {
				t.Errorf("%s has the text %q of another version:\n%s", path, found, generated)
			}
		}
	}
	write(t, filepath.Join(release, "CHANGELOG.md"), before)
	if err := run(release); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(pages(t, checkout), pages(t, release)); diff != "" {
		t.Errorf("the texts depend on the texts that they replace (-want +got):\n%s", diff)
	}
}

func TestRunRejects(t *testing.T) {
	for name, tc := range map[string]struct{ old, replaced, want string }{
		"a text without a template": {"installation: readme -->", "installation: other -->", `has the text "other"`},
		"a template without a page": {"<!-- installation: readme -->", "", `text.tmpl defines "readme"`},
	} {
		t.Run(name, func(t *testing.T) {
			folder := repository(t, before)
			path := filepath.Join(folder, "README.md")
			write(t, path, strings.Replace(read(t, path), tc.old, tc.replaced, 1))
			if err := run(folder); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want %q", err, tc.want)
			}
		})
	}
}
