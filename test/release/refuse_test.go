package release

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/worktree"
)

// git runs git in a folder. Its commits have a fixed time, so that a test yields the same commit in every run.
func git(t *testing.T, folder string, arguments ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "git", append([]string{
		"-C", folder, "-c", "user.name=test",
		"-c", "user.email=test@example.com",
	}, arguments...)...)
	command.Env = append(os.Environ(), "GIT_AUTHOR_DATE=2026-01-02T03:04:05Z", "GIT_COMMITTER_DATE=2026-01-02T03:04:05Z")
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("git %s: %v\n%s", strings.Join(arguments, " "), err, out)
	}
}

// script returns the command that runs hack/release in a checkout.
func script(ctx context.Context, checkout, version, out string) *exec.Cmd {
	return exec.CommandContext(ctx, filepath.Join(checkout, "hack/release"), version, out)
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, content, 0o700); err != nil {
		t.Fatal(err)
	}
}

// The script fails before it builds anything. The repository of the test contains no program, so that a build would
// fail with another message.
func TestReleaseIsRefused(t *testing.T) {
	content, err := os.ReadFile(filepath.Join(worktree.Root(), "hack/release"))
	if err != nil {
		t.Fatal(err)
	}
	checkout := t.TempDir()
	write(t, filepath.Join(checkout, "hack/release"), content)
	write(t, filepath.Join(checkout, "CHANGELOG.md"), []byte("## [Unreleased]\n\n## [1.2.3] - 2026-01-02\n"))
	git(t, checkout, "init", "--quiet")
	git(t, checkout, "add", "--all")
	git(t, checkout, "commit", "--quiet", "--message=test")
	fresh := filepath.Join(t.TempDir(), "out")
	for _, tc := range []struct{ name, version, out, key, change, want string }{
		{name: "no version", out: fresh, want: "'' is not a version"},
		{name: "version without v", version: "1.2.3", out: fresh, want: "'1.2.3' is not a version"},
		{name: "a branch", version: "v1.2.3-next", out: fresh, want: "'v1.2.3-next' is not a version"},
		{name: "no folder", version: "v1.2.3", want: "set the folder"},
		{name: "folder exists", version: "v1.2.3", out: t.TempDir(), want: "exists; set the path of a new folder"},
		{name: "no key", version: "v1.2.3", out: fresh, key: "no/cosign.key", want: "no/cosign.key cannot be read"},
		{name: "not in the changelog", version: "v1.2.4", out: fresh, want: "CHANGELOG.md has no section [1.2.4]"},
		{name: "changed tree", version: "v1.2.3", out: fresh, change: "new.txt", want: "the work tree has changes"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if tc.change != "" {
				write(t, filepath.Join(checkout, tc.change), nil)
			}
			command := script(t.Context(), checkout, tc.version, tc.out)
			command.Env = append(os.Environ(), "KEY="+tc.key)
			var stderr bytes.Buffer
			command.Stderr = &stderr
			if err := command.Run(); err == nil || !strings.Contains(stderr.String(), tc.want) {
				t.Errorf("error %v, and the message %q, want %q", err, stderr.String(), tc.want)
			}
			if _, err := os.Stat(fresh); err == nil {
				t.Errorf("the script created %s", fresh)
			}
		})
	}
}
