package planning

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestStorageSecret checks that a pod reads the connection parts that it started with: other parts are stored in a
// Secret with another name, and parts whose digest is in the record remain in the recorded Secret.
func TestStorageSecret(t *testing.T) {
	own := testutil.NewStack(t, `{distribution: {name: starter}}`)
	digestKey := resolve.DigestKey{ID: "key"}
	one, two := map[string][]byte{"kv-password": []byte("one")}, map[string][]byte{"kv-password": []byte("two")}
	of := func(name string, values map[string][]byte) *rollout.StorageSecret {
		return &rollout.StorageSecret{Name: name, Digest: digestKey.Digest(values)}
	}
	byContent := func(values map[string][]byte) *rollout.StorageSecret {
		return of(names.StorageSecretOf("my", digestKey.Digest(values)), values)
	}
	recorded := func(key string, secret *rollout.StorageSecret) rollout.Record {
		return rollout.Record{ReferenceKey: key, StorageSecret: secret}
	}
	for name, tc := range map[string]struct {
		running rollout.Record
		values  map[string][]byte
		want    *rollout.StorageSecret
	}{
		"no parts":               {want: nil},
		"no longer any parts":    {running: recorded("key", byContent(one))},
		"new parts":              {values: one, want: byContent(one)},
		"unchanged parts":        {running: recorded("key", byContent(one)), values: one, want: byContent(one)},
		"changed parts":          {running: recorded("key", byContent(one)), values: two, want: byContent(two)},
		"changed digest key":     {running: recorded("lost", of("was", one)), values: two, want: of("was", two)},
		"after a changed key":    {running: recorded("key", of("was", two)), values: two, want: of("was", two)},
		"a change after the key": {running: recorded("key", of("was", two)), values: one, want: byContent(one)},
	} {
		in := plan.Input{
			Object: own, Running: workload{Record: tc.running}, References: rollout.References{Key: "key"},
		}
		if diff := cmp.Diff(tc.want, storageSecret(&in, digestKey, tc.values)); diff != "" {
			t.Errorf("%s: Secret (-want +got):\n%s", name, diff)
		}
	}
}
