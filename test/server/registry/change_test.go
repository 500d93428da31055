//go:build server

package registry

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const modelA = `{model_id: a, provider_id: vllm, provider_model_id: real/a}`

// change describes a change to a configuration and its effect on the registry.
type change struct {
	name          string
	list          string // the list that the change affects; the case runs only for releases with this list
	before, after config
	// between are the registrations by providers and clients before the change.
	between [][]any
	// conflicts reports whether, without the program, the server fails to start after the change.
	conflicts  func(w *world) bool
	want, gone func(w *world) []string
	// check runs additional checks on the registry after the change.
	check func(t *testing.T, entries map[string]entry, w *world)
}

func always(*world) bool { return true }

func ids(list ...string) func(*world) []string { return func(*world) []string { return list } }

func stored(entries ...string) config {
	c := declares(modelA)
	c.lists["vector_stores"] = entries
	return c
}

func shielded(entries ...string) config {
	c := declares(modelA)
	c.lists["shields"] = entries
	return c
}

const docs = `{vector_store_id: docs, provider_id: faiss, embedding_model: vllm/e, embedding_dimension: 3, vector_store_name: Docs}`

var changes = []change{
	{
		name: "model added", list: "models", before: declares(modelA),
		after: declares(modelA, `{model_id: b, provider_id: vllm}`),
		want:  func(w *world) []string { return []string{w.model("a", "real/a"), "model:vllm/b"} },
	},
	{
		name: "model's metadata changed", list: "models", before: declares(modelA), conflicts: always,
		after: declares(`{model_id: a, provider_id: vllm, provider_model_id: real/a, metadata: {context: 8}}`),
		want:  func(w *world) []string { return []string{w.model("a", "real/a")} },
		check: func(t *testing.T, entries map[string]entry, w *world) {
			if got := entries[w.model("a", "real/a")].Metadata["context"]; got != 8.0 {
				t.Errorf("metadata is %v", got)
			}
		},
	},
	{
		name: "provider's model changed", list: "models", before: declares(modelA),
		after:     declares(`{model_id: a, provider_id: vllm, provider_model_id: real/a2}`),
		conflicts: func(w *world) bool { return w.model("a", "x") == w.model("a", "y") },
		want:      func(w *world) []string { return []string{w.model("a", "real/a2")} },
		gone: func(w *world) []string {
			if w.model("a", "x") == w.model("a", "y") {
				return nil
			}
			return []string{w.model("a", "real/a")}
		},
		check: func(t *testing.T, entries map[string]entry, w *world) {
			if got := entries[w.model("a", "real/a2")].Own; got != "real/a2" {
				t.Errorf("the provider's model is %q", got)
			}
		},
	},
	{
		name: "model removed", list: "models", before: declares(modelA), after: declares(),
		gone: func(w *world) []string { return []string{w.model("a", "real/a")} },
	},
	{
		name: "all models removed", list: "models", before: declares(modelA), after: config{},
		gone: func(w *world) []string { return []string{w.model("a", "real/a"), "model:vllm/e"} },
	},
	{
		name: "listed, then declared", list: "models", before: declares(), conflicts: always,
		between: [][]any{registeredModel("b", "vllm", "listed_from_provider")},
		after:   declares(`{model_id: b, provider_id: vllm}`), want: ids("model:vllm/b"),
	},
	{
		name: "model's provider switched off", list: "models", before: declares(modelA),
		after: declares(`{model_id: a, provider_id: "${env.NOT_SET:+vllm}", provider_model_id: real/a}`),
		gone:  func(w *world) []string { return []string{w.model("a", "real/a")} },
	},
	{
		name: "shield changed", list: "shields", conflicts: always, want: ids("shield:safe"),
		before: shielded(`{shield_id: safe, provider_id: guard, provider_shield_id: one}`),
		after:  shielded(`{shield_id: safe, provider_id: guard, provider_shield_id: two}`),
		check: func(t *testing.T, entries map[string]entry, _ *world) {
			if got := entries["shield:safe"].Own; got != "two" {
				t.Errorf("the provider's shield is %q", got)
			}
		},
	},
	{
		name: "shield removed", list: "shields", before: shielded(`{shield_id: safe, provider_id: guard}`), after: shielded(),
		gone: ids("shield:safe"),
	},
	{
		name: "vector store renamed", list: "vector_stores", before: stored(docs), conflicts: always, want: ids("vector_store:docs"),
		after: stored(strings.Replace(docs, "Docs", "Other", 1)),
		check: func(t *testing.T, entries map[string]entry, _ *world) {
			if got := entries["vector_store:docs"].Name; got != "Other" {
				t.Errorf("the name is %q", got)
			}
		},
	},
	{name: "vector store removed", list: "vector_stores", before: stored(docs), after: stored(), gone: ids("vector_store:docs")},
	{
		name: "tool group changed", list: "tool_groups", want: ids("tool_group:mcp::x"), conflicts: always,
		before: config{lists: map[string][]string{"tool_groups": {`{toolgroup_id: "mcp::x", provider_id: search}`}}},
		after:  config{lists: map[string][]string{"tool_groups": {`{toolgroup_id: "mcp::x", provider_id: search, args: {a: 1}}`}}},
	},
	{
		name: "dataset removed", list: "datasets", gone: ids("dataset:d"), after: declares(),
		before: config{
			lists:     map[string][]string{"datasets": {`{dataset_id: d, purpose: eval/question-answer, source: {type: rows, rows: []}}`}},
			providers: map[string][]string{"datasetio": {`{provider_id: localfs, provider_type: "inline::localfs", config: {}}`}},
		},
	},
}

// TestChanges makes each change to a configuration while the registry also contains registrations of clients. It also
// shows after which changes the server would not start without the program.
func TestChanges(t *testing.T) {
	eachStoreAgain(t, func(t *testing.T, w *world) {
		for _, c := range changes {
			if w.has(c.list) {
				t.Run(c.name, func(t *testing.T) { w.once(t, func() { c.make(t, w.with(t, w.store)) }) })
			}
		}
	})
}

func (c *change) make(t *testing.T, w *world) {
	t.Helper()
	w.restart(t, c.before)
	clients := [][]any{vectorStore("vs_1"), registeredModel("mine", "vllm", "via_register_api")}
	w.do(t, c.before, append(clients, c.between...)...)
	if c.conflicts != nil && c.conflicts(w) && w.boot(t, c.after) == "" {
		t.Error("the server also starts without the program, so the case does not test anything")
	}
	w.env["LLS_GENERATION"] = "stack-1/2"
	w.restart(t, c.after)
	entries := w.entries(t, c.after)
	want := []string{"vector_store:vs_1", "model:vllm/mine"}
	if c.want != nil {
		want = append(want, c.want(w)...)
	}
	for _, id := range want {
		if _, ok := entries[id]; !ok {
			t.Errorf("%s is not in the registry", id)
		}
	}
	if c.gone != nil {
		for _, id := range c.gone(w) {
			if _, ok := entries[id]; ok {
				t.Errorf("%s is still in the registry", id)
			}
		}
	}
	if c.check != nil {
		c.check(t, entries, w)
	}
}

// TestAgain shows that a second run of the program changes nothing, and that the first run creates the list of declared
// entries and the directory of the registry.
func TestAgain(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		c := declares(modelA)
		w.run(t, c)
		want := map[string]int{"model:vllm/e": 1, w.model("a", "real/a"): 1}
		if diff := cmp.Diff(want, w.declared(t, c)); diff != "" {
			t.Errorf("list of the first start (-want +got):\n%s", diff)
		}
		w.restart(t, c)
		before := w.do(t, c, []any{"get", "llamastack.io:registry:declared"}, []any{"list"})
		w.restart(t, c)
		after := w.do(t, c, []any{"get", "llamastack.io:registry:declared"}, []any{"list"})
		if string(before[0]) != string(after[0]) || len(w.ids(t, c)) != 2 {
			t.Errorf("before:\n%s\nafter:\n%s", before, after)
		}
	})
}

// TestOlderPod shows that a pod of an older generation does not remove entries that a newer pod declared, and that a
// newer pod removes entries that no pod declares.
func TestOlderPod(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		older, newer := declares(modelA), declares(modelA, `{model_id: b, provider_id: vllm}`)
		for _, step := range []struct {
			generation string
			config     config
			b          int // the generation of model b in the list
		}{
			{"stack-1/3", older, 0},
			{"stack-1/5", newer, 5},
			{"stack-1/3", older, 5},
			{"stack-1/4", newer, 5},
			{"", older, 0}, // the value names no stack, so every generation in the list counts as 0
			{"stack-1/6", newer, 6},
			{"stack-2/1", older, 0}, // the stack was restored under a different name
			{"stack-2/zwei", older, 0},
		} {
			w.env["LLS_GENERATION"] = step.generation
			w.restart(t, step.config)
			if got := w.declared(t, step.config)["model:vllm/b"]; got != step.b {
				t.Errorf("after a pod of %q, the list contains the generation %d", step.generation, got)
			}
			if there := slices.Contains(w.ids(t, step.config), "model:vllm/b"); there != (step.b > 0) {
				t.Errorf("after a pod of %q, b is in the registry: %v", step.generation, there)
			}
		}
	})
}

// TestPublished shows that, if the configuration no longer contains a provider, the program removes the resources that
// this provider published, and keeps the resources that a client registered.
func TestPublished(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		c := declares(modelA)
		w.restart(t, c)
		things := [][]any{
			registeredModel("listed", "vllm", "listed_from_provider"),
			registeredModel("listed", "left", "listed_from_provider"),
			registeredModel("mine", "left", "via_register_api"),
		}
		want := []string{"model:left/mine", "model:vllm/e", "model:vllm/listed", w.model("a", "real/a")}
		group := []any{"register", map[string]any{
			"type": "tool_group", "identifier": "builtin::websearch", "provider_id": "left",
			"provider_resource_id": "builtin::websearch",
		}}
		things = append(things, group)
		if w.has("tool_groups") {
			// In this release, a configuration or a client can also declare a tool group.
			want = append(want, "tool_group:builtin::websearch")
		}
		if w.has("scoring_fns") {
			for _, id := range []string{"basic::equality", "basic::mine"} {
				things = append(things, []any{"register", map[string]any{
					"type": "scoring_function", "identifier": id, "provider_id": "left", "provider_resource_id": id,
					"return_type": map[string]any{"type": "number"},
				}})
			}
			want = append(want, "scoring_function:basic::mine")
		}
		w.do(t, c, things...)
		w.restart(t, c)
		slices.Sort(want)
		if diff := cmp.Diff(want, w.ids(t, c)); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	})
}
