//go:build server

package server

import (
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// TestChangedModelsBootOnKeptState boots a stack, changes its models and boots
// it again on the same state. The server keeps what it registered and refuses to
// start when that comes back with other properties, or when a model it had found
// by itself is now registered; so the operator keeps the registry apart by what
// is registered.
func TestChangedModelsBootOnKeptState(t *testing.T) {
	for _, tc := range []struct {
		file     string
		postgres bool
	}{
		{file: "v1alpha2-simple.yaml"},
		{file: "v1alpha2-postgres.yaml", postgres: true},
	} {
		t.Run(tc.file, func(t *testing.T) {
			t.Parallel()
			s := readSample(t, tc.file)
			var db *database
			if tc.postgres {
				started := startPostgres(t)
				db = &started
			}
			s.fitMachine(t, startUpstream(t), db)
			root := t.TempDir()

			first := bootSample(t, s, root)
			checkList(t, first, "/v1/models", "id", []string{"vllm/llama3.2-8b", "vllm/" + autoListed})
			first.stop()

			contextLength := int64(64000)
			s.stack.Spec.Resources.Models = []v1alpha2.ModelEntry{
				v1alpha2.NewModel(v1alpha2.Model{Name: "llama3.2-8b", ContextLength: &contextLength}),
				v1alpha2.NewModel(v1alpha2.Model{Name: autoListed, ContextLength: &contextLength}),
			}
			second := bootSample(t, s, root)
			checkList(t, second, "/v1/models", "id", []string{"vllm/llama3.2-8b", "vllm/" + autoListed})
		})
	}
}
