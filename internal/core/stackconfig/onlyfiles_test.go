package stackconfig_test

import (
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

func TestOnlyFiles(t *testing.T) {
	const head = "version: 2\n"
	for _, tc := range []struct {
		name, line, config string
		in                 intent.Intent
		want               bool
	}{
		{name: "no storage", line: "0.7", config: head, want: true},
		{name: "files", line: "0.7", config: head + "storage: {backends: {a: {type: kv_sqlite, db_path: /x}, b: {type: sql_sqlite, db_path: /y}}}\n", want: true},
		{name: "redis", line: "0.7", config: head + "storage: {backends: {a: {type: kv_redis}}}\n"},
		{name: "a type from a variable", line: "0.7", config: head + "storage: {backends: {a: {type: '${env.KIND:=kv_sqlite}'}}}\n", want: true},
		{name: "a type from a variable of the spec", line: "0.7", config: head + "storage: {backends: {a: {type: '${env.KIND:=kv_sqlite}'}}}\n", in: intent.Intent{Variables: []string{"KIND"}}},
		{name: "a database unless a variable is set", line: "0.7", config: head + "storage: {backends: {a: {type: '${env.KIND:=kv_redis}'}}}\n"},
		{name: "inline postgres", line: "0.2", config: head + "metadata_store: {type: postgres}\n"},
		{name: "inline files", line: "0.2", config: head + "metadata_store: {type: sqlite, db_path: /x}\n", want: true},
		{name: "a provider's own store", line: "0.2", config: head + "providers: {agents: [{provider_id: a, provider_type: 'inline::a', config: {store: {type: mongodb}}}]}\n"},
		{name: "remote vectors", line: "0.7", config: head + "providers: {vector_io: [{provider_id: p, provider_type: 'remote::pgvector'}]}\n"},
		{name: "remote files", line: "0.7", config: head + "providers: {files: [{provider_id: p, provider_type: 'remote::s3'}]}\n"},
		{name: "remote models", line: "0.7", config: head + "providers: {inference: [{provider_id: p, provider_type: 'remote::vllm'}]}\n", want: true},
		{name: "not enabled", line: "0.7", config: head + "providers: {vector_io: [{provider_id: '${env.DB:+p}', provider_type: 'remote::pgvector'}]}\n", want: true},
		{
			name: "enabled", line: "0.7", config: head + "providers: {vector_io: [{provider_id: '${env.DB:+p}', provider_type: 'remote::pgvector'}]}\n",
			in: intent.Intent{Variables: []string{"DB"}},
		},
		{
			name: "perhaps enabled", line: "0.7", config: head + "providers: {vector_io: [{provider_id: '${env.DB:+p}', provider_type: 'remote::pgvector'}]}\n",
			in: intent.Intent{MoreVariables: true}, want: true,
		},
		{name: "disabled", line: "0.7", config: head + "providers: {vector_io: [{provider_id: __disabled__, provider_type: 'remote::pgvector'}]}\n", want: true},
		{name: "no configuration", line: "0.7", config: "[", want: true},
		{name: "an empty text", line: "0.7", want: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			if got := stackconfig.OnlyFiles([]byte(tc.config), mustRelease(t, tc.line), &tc.in); got != tc.want {
				t.Errorf("OnlyFiles: %t, want %t", got, tc.want)
			}
		})
	}
}

// In every release, OnlyFiles returns true for the configuration of starter, and false for the configuration of
// postgres-demo, which needs a database.
func TestOnlyFilesOfShippedConfigurations(t *testing.T) {
	seen := map[bool]int{}
	for _, line := range release.Lines() {
		rel := mustRelease(t, line)
		for name, want := range map[string]bool{"starter": true, "postgres-demo": false} {
			known, ok := rel.Distribution(name)
			if !ok {
				continue
			}
			if got := stackconfig.OnlyFiles([]byte(known.YAML), rel, &intent.Intent{}); got != want {
				t.Errorf("%s of %s: OnlyFiles returns %t", name, line, got)
			}
			seen[want]++
		}
	}
	if seen[true] == 0 || seen[false] == 0 {
		t.Errorf("found %d configurations with only files and %d others", seen[true], seen[false])
	}
}
