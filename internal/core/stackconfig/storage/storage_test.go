package storage_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/storage"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

func newDraft(t *testing.T, base string, in *intent.Intent) *draft.Draft {
	t.Helper()
	parsed, err := baseconfig.Parse([]byte(base))
	if err != nil {
		t.Fatal(err)
	}
	return draft.New(parsed, in, release.Default(), "")
}

// Without storage in the spec, the server's defaults apply, with the stack's own file as the registry. If the server
// registers a resource, the configuration must contain the section `storage`.
func TestPlaceWithoutStorage(t *testing.T) {
	d := newDraft(t, "{}", &intent.Intent{Name: "demo"})
	registry, derived := storage.Place(d, false)
	if diff := cmp.Diff(&storage.Registry{}, registry); diff != "" || derived != nil || yamlnode.Len(d.Root) > 0 {
		t.Errorf("registry %v, derived %v, configuration:\n%s", registry, derived, yamlnode.Encode(d.Root, ""))
	}
	registry, _ = storage.Place(d, true)
	if registry == nil || registry.Namespace != "" || yamlnode.At(d.Root, "storage", "stores", "metadata") == nil {
		t.Errorf("registry %v, configuration:\n%s", registry, yamlnode.Encode(d.Root, ""))
	}
}

// Other stacks may use the same Redis server, so the registry has its own namespace. The password comes from a Secret.
func TestPlaceInRedis(t *testing.T) {
	d := newDraft(t, "{}", &intent.Intent{Name: "demo", Namespace: "team", Storage: intent.Storage{KV: &intent.Store{
		Type: intent.Redis, Host: "cache", Port: 6379, Password: &intent.SecretRef{Name: "redis", Key: "password"},
	}}})
	registry, derived := storage.Place(d, false)
	if registry == nil || registry.Namespace != "registry/team/demo" {
		t.Errorf("registry %v", registry)
	}
	if len(derived) != 1 || derived[0].Secret != "redis" || len(d.Variables()) != 1 {
		t.Errorf("derived %v, variables %v", derived, d.Variables())
	}
}

func TestNameTables(t *testing.T) {
	for _, tt := range []struct{ written, inUse, want string }{
		{"", "", "llamastack_kvstore"},
		{"", "old", "old"},
		{"mine", "", "mine"},
		{"${env.TABLE:=mine}", "old", "${env.TABLE:=old}"},
		{"${env.TABLE:=mine}", "", "${env.TABLE:=mine}"},
	} {
		d := newDraft(t, "storage: {backends: {kv_default: {type: kv_postgres, table_name: '"+tt.written+"'}}}", &intent.Intent{})
		storage.NameTables(d, tt.inUse)
		if got := yamlnode.Text(yamlnode.At(d.Root, "storage", "backends", "kv_default"), "table_name"); got != tt.want {
			t.Errorf("%q, in use %q: %q, want %q", tt.written, tt.inUse, got, tt.want)
		}
	}
}
