package render

import (
	"os/exec"
	"testing"
)

// TestShellText checks that a real shell expands a path to the expected text, both if the variable in it has a value
// and if the variable is empty.
func TestShellText(t *testing.T) {
	for _, tc := range []struct {
		path, unset, set string
	}{
		{"/data/sql", "/data/sql", "/data/sql"},
		{"~/.llama", "/home/stack/.llama", "/home/stack/.llama"},
		{"${env.DIR:=~/.llama/distributions/starter}", "/home/stack/.llama/distributions/starter", "/mnt"},
		{"${env.DIR:=~/.llama}/deep", "/home/stack/.llama/deep", "/mnt/deep"},
		{"/a/${env.DIR:+with}/b", "/a//b", "/a/with/b"},
		{"/a${env.DIR}", "/a", "/a/mnt"},
		{"/with space/\"quoted\"", "/with space/\"quoted\"", "/with space/\"quoted\""},
		{"/$(echo no)/`echo no`/$HOME/\\", "/$(echo no)/`echo no`/$HOME/\\", "/$(echo no)/`echo no`/$HOME/\\"},
		{"${env.DIR:=/$(echo no)/\"x}", "/$(echo no)/\"x", "/mnt"},
		{"${env.lower}", "${env.lower}", "${env.lower}"},
	} {
		for value, want := range map[string]string{"": tc.unset, "/mnt": tc.set} {
			cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", `printf %s "`+shellText(tc.path)+`"`)
			cmd.Env = []string{"HOME=/home/stack", "DIR=" + value}
			got, err := cmd.Output()
			if err != nil || string(got) != want {
				t.Errorf("%s with DIR=%q: got %q, %v; want %q", tc.path, value, got, err, want)
			}
		}
	}
}
