//go:build server

package registry

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// TestListsThatCannotBeRead shows that an invalid list of declared entries does not cause the loss of entries in the
// registry. The program removes only entries that a valid list contains, and replaces an invalid list with a new list.
func TestListsThatCannotBeRead(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		c := declares(modelA)
		w.restart(t, c)
		w.do(t, c, vectorStore("vs_1"), registeredModel("mine", "vllm", "via_register_api"))
		want := w.ids(t, c)
		for _, list := range []string{
			``, `garbage`, `null`, `[]`, `7`, `{}`, `{"version":1}`, `{"stack":"stack-1","declared":null}`,
			`{"stack":"stack-1","declared":["model:vllm/mine"]}`, `{"stack":[],"declared":{"vs_1":0,"":0,":":0,"model:":0}}`,
			`{"stack":"stack-1","declared":{"model:vllm/mine":99}}`, strings.Repeat(`{"a":`, 5000),
			`{"stack":"stack-1","declared":{"model:vllm/mine":0}}` + strings.Repeat(" ", 5<<20),
		} {
			w.do(t, c, []any{"set", "llamastack.io:registry:declared", list})
			w.restart(t, c)
			if diff := cmp.Diff(want, w.ids(t, c)); diff != "" {
				t.Errorf("after the list %.60q (-want +got):\n%s", list, diff)
			}
			if got := w.declared(t, c); got["model:vllm/e"] != 1 {
				t.Errorf("after the list %.60q, the list is %v", list, got)
			}
		}
		// An invalid generation counts as 0, as if no pod declared the entry any longer.
		for _, since := range []string{`"x"`, `true`, `-1`, `null`, `1e400`, `[]`} {
			w.do(t, c, registeredModel("was", "vllm", "via_register_api"),
				[]any{"set", "llamastack.io:registry:declared", `{"version":1,"stack":"stack-1","declared":{"model:vllm/was":` + since + `}}`})
			w.restart(t, c)
			if diff := cmp.Diff(want, w.ids(t, c)); diff != "" {
				t.Errorf("since %s (-want +got):\n%s", since, diff)
			}
		}
	})
}

// TestEntriesThatDoNotParse shows that the program ignores entries that it cannot parse, and removes such an entry only
// if a declared entry needs the same key.
func TestEntriesThatDoNotParse(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		c := declares(modelA)
		w.restart(t, c)
		prefix := w.rel.Registry.KeyPrefix
		odd := map[string]string{
			"model:odd": "garbage", "vector_store:odd": "[]", "model:list": `["listed_from_provider"]`, "strange": "{}", "": "{}", "::": "{}",
			"model:\u00e4\u4e2d \"'%_*?[x]": "{}", "model:deep": strings.Repeat("[", 100000),
		}
		for key, text := range odd {
			w.do(t, c, []any{"set", prefix + key, text})
		}
		w.do(t, c, []any{"set", prefix + w.model("a", "real/a"), "garbage"})
		w.restart(t, c)
		for key, text := range odd {
			var got string
			unmarshal(t, w.do(t, c, []any{"get", prefix + key})[0], &got)
			if got != text {
				t.Errorf("%q is %.80q", key, got)
			}
		}
		if _, ok := w.entries(t, c)[w.model("a", "real/a")]; !ok {
			t.Error("the declared entry is not in the registry")
		}
	})
}

// TestUnsetVariable shows that the program does not remove an entry if a variable in a declared entry is not set,
// because the server does not start in this case.
func TestUnsetVariable(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		before := declares(modelA)
		w.restart(t, before)
		output := w.run(t, declares(`{model_id: "${env.NOT_SET}", provider_id: vllm}`))
		if !slices.Contains(w.ids(t, before), w.model("a", "real/a")) || !strings.Contains(output, "is not set") {
			t.Errorf("the entries are %s\n%s", w.ids(t, before), output)
		}
	})
}

// TestConfigurations shows the output for configurations that the program cannot use.
func TestConfigurations(t *testing.T) {
	eachReleaseAgain(t, func(t *testing.T, w *world) {
		for _, tc := range []struct{ name, text, want string }{
			{"no YAML", "a: [", "the configuration is not valid YAML, see line"},
			{"empty", "", "no storage backend"},
			{"a list", "[1, 2]", "no storage backend"},
			{"no backend", "storage: {stores: {metadata: {backend: nope, namespace: x}}}", "no storage backend nope"},
			{"in memory", `storage: {backends: {kv_default: {type: kv_sqlite, db_path: ":memory:"}}, stores: {metadata: {backend: kv_default, namespace: x}}}`, "not in a file"},
			{"no path", `storage: {backends: {kv_default: {type: kv_sqlite}}, stores: {metadata: {backend: kv_default, namespace: x}}}`, "not in a file"},
			{"path with an unset variable", `storage: {backends: {kv_default: {type: kv_sqlite, db_path: "${env.NOT_SET}"}}, stores: {metadata: {backend: kv_default, namespace: x}}}`, "the variable NOT_SET is not set"},
			{"unknown type", `storage: {backends: {kv_default: {type: kv_canary}}, stores: {metadata: {backend: kv_default, namespace: x}}}`, "not changed"},
			{"odd table", `storage: {backends: {kv_default: {type: kv_postgres, table_name: "a; drop"}}, stores: {metadata: {backend: kv_default, namespace: x}}}`, "table_name is not a valid name"},
			{"odd lists", `{registered_resources: {models: {a: b}, vector_stores: [7, null, {vector_store_id: [x], provider_id: {}}]}, storage: 7}`, "no storage backend"},
		} {
			t.Run(tc.name, func(t *testing.T) {
				w.once(t, func() {
					if output := w.run(t, config{inFull: tc.text + "\n"}); !strings.Contains(output, tc.want) {
						t.Errorf("output is\n%s", output)
					}
				})
			})
		}
		w.once(t, func() {
			missing := exec.CommandContext(t.Context(), w.python, filepath.Join(w.script, names.RegistryProgram), "--config",
				"/does/not/exist")
			if output, err := missing.CombinedOutput(); err != nil || !strings.Contains(string(output), "No such file") {
				t.Errorf("%v\n%s", err, output)
			}
		})
	})
}
