package render_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// python is a script that replaces Python. It reports the packages in $PACKAGES as installed, and prints the arguments
// with which it was started.
const python = `#!/bin/sh
if [ "$1" = -c ]; then
  for package in $PACKAGES; do
    if [ "${package%=*}" = "$3" ]; then echo "${package#*=}"; exit 0; fi
  done
  exit 1
fi
echo "$@"
echo "$LLAMA_STACK_PORT $OGX_CONFIG"
`

// The launcher starts every release of the server in the way that the release supports.
func TestLauncher(t *testing.T) {
	const factory = "-m uvicorn llama_stack.core.server.server:create_app --factory --host 0.0.0.0 --port 9000 --workers 2\n9000 \n"
	stack := &v1alpha2.LlamaStackDistribution{}
	script := renderedTemplate(t, render.Input{Stack: stack, Launcher: true}).Spec.Containers[0].Command[2]
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "python"), []byte(python), 0o755); err != nil {
		t.Fatal(err)
	}
	const (
		oldest = "-m llama_stack.distribution.server.server --config /etc/llama-stack/config.yaml\n9000 \n"
		module = "-m llama_stack.core.server.server /etc/llama-stack/config.yaml\n9000 \n"
	)
	for packages, want := range map[string]string{
		"llama-stack=0.0.63":        oldest,
		"llama-stack=0.1.9":         oldest,
		"llama-stack=0.1rc1":        oldest,
		"llama-stack=0.2":           oldest,
		"llama-stack=0.2rc1":        oldest,
		"llama-stack=0.2.9":         oldest,
		"llama-stack=0.2.9.post1":   oldest,
		"llama-stack=0.2.9+rhai0":   oldest,
		"llama-stack=0.2.14+rhai0":  oldest,
		"llama-stack=0.2.16":        oldest,
		"llama-stack=0.2.16rc1":     oldest,
		"llama-stack=0.2.16.dev3":   oldest,
		"llama-stack=0.2.17":        module,
		"llama-stack=0.2.17rc1":     module,
		"llama-stack=0.2.20":        module,
		"llama-stack=0.2.24":        module,
		"llama-stack=0.2.24.post2":  module,
		"llama-stack=0.20.1":        factory,
		"llama-stack=0.3.0rc1":      factory,
		"llama-stack=0.3.5.1+rhai0": factory,
		"llama-stack=0.7.3":         factory,
		"llama-stack=0.10.0":        factory,
		"":                          factory,
		"ogx=1.5.0": strings.NewReplacer("llama_stack", "ogx", "9000 \n",
			"9000 /etc/llama-stack/config.yaml\n").Replace(factory),
	} {
		command := exec.CommandContext(t.Context(), "/bin/sh", "-c", script, "--verbose")
		command.Env = []string{
			"PATH=" + dir + ":/usr/bin:/bin", "PACKAGES=" + packages,
			"LLAMA_STACK_CONFIG=/etc/llama-stack/config.yaml", "LLS_PORT=9000", "LLS_WORKERS=2",
		}
		got, err := command.CombinedOutput()
		if err != nil || string(got) != want {
			t.Errorf("%q: started with %q, want %q; error %v", packages, got, want, err)
		}
	}
}
