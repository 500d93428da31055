//go:build node

package node

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// user runs commands in a folder, with a kubeconfig that has only the permissions of the ClusterRole edit in the
// namespace.
type user struct {
	*scenario
	folder      string
	environment []string
}

// edit binds the ClusterRole edit, which includes the rules of the operator's editor role.
const edit = `
apiVersion: v1
kind: ServiceAccount
metadata: {name: user}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata: {name: user}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: edit}
subjects: [{kind: ServiceAccount, name: user}]
`

func (s *scenario) user() *user {
	s.t.Helper()
	folder := s.t.TempDir()
	u := &user{s, folder, append(os.Environ(), "KUBECONFIG="+filepath.Join(folder, "kubeconfig"), "NO_COLOR=1",
		"PATH="+filepath.Dir(testutil.BuildCommandLine(s.t, operatorTag))+string(filepath.ListSeparator)+os.Getenv("PATH"))}
	s.apply(edit)
	token := strings.TrimSpace(s.kubectl("create", "token", "user"))
	u.write("kubeconfig", s.kubectl("config", "view", "--raw", "--minify", "--flatten"))
	u.succeeds("kubectl config set-credentials user --token=" + token)
	u.succeeds("kubectl config set-context --current --user=user --namespace=" + s.namespace)
	return u
}

// write writes a file that only the user can read.
func (u *user) write(name, content string) {
	u.t.Helper()
	if err := os.WriteFile(filepath.Join(u.folder, name), []byte(content), 0o600); err != nil {
		u.t.Fatal(err)
	}
}

func (u *user) read(name string) string {
	u.t.Helper()
	content, err := os.ReadFile(filepath.Join(u.folder, name))
	if err != nil {
		u.t.Fatal(err)
	}
	return string(content)
}

// edited reads the file `from`, replaces a string in its content, and writes the result to the file `to`. The two files
// can be the same file.
func (u *user) edited(from, to, old, replacement string) {
	u.t.Helper()
	content := u.read(from)
	if !strings.Contains(content, old) {
		u.t.Fatalf("%s does not contain %q:\n%s", from, old, content)
	}
	u.write(to, strings.Replace(content, old, replacement, 1))
}

func (u *user) command(ctx context.Context, line string) *exec.Cmd {
	words := strings.Fields(line)
	command := exec.CommandContext(ctx, words[0], words[1:]...)
	command.Dir, command.Env = u.folder, u.environment
	return command
}

// ends runs a command line that must exit with the given code, and returns its output. The words of the line must not
// contain spaces.
func (u *user) ends(code int, line string) string {
	u.t.Helper()
	command := u.command(u.t.Context(), line)
	var said bytes.Buffer
	command.Stdout, command.Stderr = &said, &said
	err := command.Run()
	got := 0
	if exit, ended := errors.AsType[*exec.ExitError](err); ended {
		got = exit.ExitCode()
	} else if err != nil {
		u.t.Fatal(err)
	}
	if got != code {
		u.t.Fatalf("%s: exit code %d, want %d:\n%s", line, got, code, said.String())
	}
	return said.String()
}

func (u *user) succeeds(line string) string {
	u.t.Helper()
	return u.ends(0, line)
}

// says runs a command that must succeed, and checks that its output contains the expected texts.
func (u *user) says(line string, wanted ...string) {
	u.t.Helper()
	contains(u.t, line, u.succeeds(line), wanted...)
}

func contains(t testing.TB, line, said string, wanted ...string) {
	t.Helper()
	for _, want := range wanted {
		if !strings.Contains(said, want) {
			t.Errorf("%s prints no %q:\n%s", line, want, said)
		}
	}
}
