//go:build server

package boot

import (
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// TestLauncher starts each release with the launcher, which is the command that the operator generates for a v1alpha1
// stack with a userConfig. The launcher uses the Python of the release's environment.
func TestLauncher(t *testing.T) {
	t.Parallel()
	objects, err := render.Objects(render.Input{Stack: &v1alpha2.LlamaStackDistribution{}, Launcher: true})
	if err != nil {
		t.Fatal(err)
	}
	deployment, _ := workload(t, objects)
	command := deployment.Spec.Template.Spec.Containers[0].Command
	eachRelease(t, func(t *testing.T, rel *release.Release) {
		once(t, rel, func() { launch(t, rel, command) }, command)
	})
}

func launch(t *testing.T, rel *release.Release, command []string) {
	t.Helper()
	vllm, ok := rel.Provider("inference", "remote::vllm")
	if !ok {
		t.Fatal("the release has no remote::vllm")
	}
	server, err := bootLiteral(t, rel, vllm.EndpointKey, command...)
	if err != nil {
		t.Fatal(err)
	}
	checkVersion(t, server, rel)
}
