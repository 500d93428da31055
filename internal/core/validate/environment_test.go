package validate

import (
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// In every release, a Secret cannot set any of the operator's variables.
func TestReservedNamesAreThoseOfEveryRelease(t *testing.T) {
	reserved := map[string]string{
		"HF_HOME": "", "HOME": "", "PATH": "", "LLS_PORT": "", "LLS_WORKERS": "", "LLS_GENERATION": "", "LLS_REGISTRY": "",
		"LLS_ANY":       "",
		names.EnvConfig: "", names.EnvRunConfig: "",
	}
	for _, line := range release.Lines() {
		match, err := release.Lookup(line)
		if err != nil {
			t.Fatal(err)
		}
		runtime := match.Release.Runtime
		for _, name := range []string{runtime.PortVariable, runtime.FactoryVariable, runtime.ConfigVariable} {
			if name != "" {
				reserved[name] = line
			}
		}
	}
	for name, line := range reserved {
		if !isReserved(name) {
			t.Errorf("%s, which release %q reads, may come from a Secret", name, line)
		}
	}
	for _, name := range []string{"OPENAI_API_KEY", "LLAMA_STACK_LOGGING", "LLSTOKEN"} {
		if isReserved(name) {
			t.Errorf("%s is rejected", name)
		}
	}
}
