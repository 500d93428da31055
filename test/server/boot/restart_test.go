//go:build server

package boot

import (
	"path/filepath"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// TestChangedModelsBootOnKeptState starts the server of a stack, changes the models of the stack, and starts the server
// again with the same state. The server stores its registrations. It does not start if the configuration contains a
// registered resource with different properties, or a model that a provider listed before. For this reason, the pod
// first removes the declared resources from the registry. TestRetention tests more changes.
func TestChangedModelsBootOnKeptState(t *testing.T) {
	t.Parallel()
	eachRelease(t, func(t *testing.T, rel *release.Release) {
		for _, file := range []string{"testdata/redis-sqlite.yaml", "v1alpha2-simple.yaml", "v1alpha2-postgres.yaml"} {
			t.Run(filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				planned := readSample(t, file)
				planned.fit(t, rel, planned.planned())
				inputs := []any{planned.input(t, rel)}
				planned.changeModels()
				once(t, rel, func() { bootChangedModels(t, rel, file) }, append(inputs, planned.input(t, rel)))
			})
		}
	})
}

// declaredModel is a model that the samples declare.
const declaredModel = "llama3.2-8b"

func bootChangedModels(t *testing.T, rel *release.Release, file string) {
	t.Helper()
	s, root := readSample(t, file), t.TempDir()
	on := s.startPlace(t, rel)
	s.fit(t, rel, on)
	kept, found := model{provider: "vllm", name: declaredModel}, model{provider: "vllm", name: autoListed}
	on.models.serve(kept.name)
	ids := []string{kept.public(rel), found.public(rel)}

	first := bootSample(t, rel, s, root)
	checkList(t, first, "/v1/models", ids)
	first.stop()

	s.changeModels()
	second := bootSample(t, rel, s, root)
	checkList(t, second, "/v1/models", ids)
}

// changeModels changes the declared model, and declares a model that its provider listed before.
func (s *sample) changeModels() {
	contextLength := int64(64000)
	s.stack.Spec.Resources.Models = []v1alpha2.ModelEntry{
		v1alpha2.NewModel(v1alpha2.Model{Name: declaredModel, ContextLength: &contextLength}),
		v1alpha2.NewModel(v1alpha2.Model{Name: autoListed, ContextLength: &contextLength}),
	}
}
