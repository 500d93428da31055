package cli_test

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

// Each case is a stack with arguments. The golden files contain the output of upgrade-check.
func TestUpgradeCheckAnswers(t *testing.T) {
	const folder = "testdata/upgrade"
	got := map[string][]byte{}
	for name, tc := range map[string]struct {
		file string
		args string
		code int
	}{
		"refused": {"refused", "--to 1.5", 1},
		"waits":   {"refused", "--to 0.7", 1},
		"clients": {"clients", "--to 1.5", 0},
		"all":     {"clients", "--to 0.8 --all", 0},
		"pinned":  {"pinned", "--to 1.5", 0},
		"data":    {"data", "--to 1.0", 0},
		"same":    {"data", "--to 0.7", 0},
	} {
		result := run(t, "", append([]string{"upgrade-check", "-f", filepath.Join(folder, tc.file+".yaml")},
			strings.Fields(tc.args)...)...)
		result.exits(t, tc.code, name)
		got[name+".txt"] = []byte(result.out)
	}
	golden.Dir(t, filepath.Join(folder, "want"), got)
}

func TestUpgradeCheckSelection(t *testing.T) {
	for _, tc := range map[string]struct {
		args []string
		want string
	}{
		"file and name":             {[]string{"-f", "a.yaml", "demo"}, `"demo": names select stacks in a cluster`},
		"name and all namespaces":   {[]string{"-A", "demo"}, `"demo": a name selects a stack in one namespace`},
		"name and selector":         {[]string{"-l", "a=b", "demo"}, `"demo": a name cannot be used with --selector`},
		"file and all namespaces":   {[]string{"-f", "a.yaml", "-A"}, "none of the others can be"},
		"folder and all namespaces": {[]string{"-k", "a", "-A"}, "none of the others can be"},
	} {
		got := run(t, "", append([]string{"upgrade-check", "--to", "1.5"}, tc.args...)...)
		got.refuses(t, 2, tc.want)
	}
}
