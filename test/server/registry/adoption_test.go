//go:build server

package registry

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// former writes entries to the namespace that the base configuration names. The server uses that namespace as long as
// the operator generates no configuration for the stack.
func (w *world) former(t *testing.T, things ...[]any) {
	t.Helper()
	w.ask(t, request{Config: config{}.text(w), Env: w.env, Do: things, Namespace: &w.base})
}

// TestAdoption shows that a stack in a shared store takes over the vector stores and models that clients created before
// the registry of the stack had its own namespace.
func TestAdoption(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		if w.store == "kv_sqlite" {
			return // the registry keeps its namespace (TestCarry shows what the program takes over from a file)
		}
		c := declares(modelA)
		client := "via_register_api"
		w.former(t, vectorStore("vs_old"), registeredModel("mine", "vllm", client),
			registeredModel("listed", "vllm", "listed_from_provider"), registeredModel("a", "vllm", client))
		want := []string{"model:vllm/e", "model:vllm/mine", w.model("a", "real/a"), "vector_store:vs_old"}
		if w.model("a", "real/a") != "model:vllm/a" {
			want = append(want, "model:vllm/a") // the model of the client and the declared model have different IDs
		}
		output := w.restart(t, c)
		slices.Sort(want)
		if diff := cmp.Diff(want, w.ids(t, c)); diff != "" {
			t.Fatalf("(-want +got):\n%s\n%s", diff, output)
		}

		// The program adopts a registry only once. It does not restore entries that a client deletes afterwards.
		w.do(t, c, []any{"delete", "vector_store", "vs_old"})
		w.restart(t, c)
		if slices.Contains(w.ids(t, c), "vector_store:vs_old") {
			t.Error("a vector store that a client deleted is in the registry again")
		}
	})
}

// TestCarry shows, for the releases whose keys in SQLite have a namespace, that the program copies the registry and the
// data of vector providers from the keys that 0.8 uses.
func TestCarry(t *testing.T) {
	eachRelease(t, func(t *testing.T, w *world) {
		if !w.rel.Runtime.RegistryKeepsNamespace {
			return
		}
		c := stored(docs)
		plain := ""
		set := func(key, value string) []any { return []any{"set", key, value} }
		registered := func(id, provider string) []any {
			return set(w.rel.Registry.KeyPrefix+"vector_store:"+id, `{"type":"vector_store","identifier":"`+id+`","provider_id":"`+provider+`","embedding_model":"vllm/e","embedding_dimension":3}`)
		}
		w.ask(t, request{Config: c.text(w), Env: w.env, Namespace: &plain, Do: [][]any{
			registered("vs_1", "faiss"), registered("vs_2", "other"),
			registeredModel("gone", "vllm", "via_register_api"), registeredModel("mine", "vllm", "via_register_api"),
			set("llamastack.io:registry:declared", `{"version":1,"stack":"stack-1","release":"0.8.0","declared":{"model:vllm/gone":1}}`),
			set("faiss_index:v3::vs_1", "index"), set("openai_vector_stores:v3::vs_1", "one"),
			set("openai_vector_stores:v3::vs_2", "two"),
			set("openai_vector_stores_files_contents:v3::vs_1:file_1:0", "chunk"), set("vector_stores:sqlite_vec:v3::vs_2", "table"),
			set("openai_vector_stores_file_batches:v3::batch_1", "batch"), set("prompts:v1:x", "prompt"),
		}})
		w.env["LLS_GENERATION"] = "stack-1/2"
		output := w.restart(t, c)
		want := []string{
			"model:vllm/a", "model:vllm/e", "model:vllm/mine", "vector_store:docs", "vector_store:vs_1",
			"vector_store:vs_2",
		}
		if diff := cmp.Diff(want, w.ids(t, c)); diff != "" {
			t.Errorf("registry (-want +got):\n%s\n%s", diff, output)
		}
		for namespace, keys := range map[string]map[string]string{
			"vector_io::faiss": {
				"faiss_index:v3::vs_1": `"index"`, "openai_vector_stores:v3::vs_1": `"one"`, "openai_vector_stores:v3::vs_2": "null",
				"openai_vector_stores_files_contents:v3::vs_1:file_1:0": `"chunk"`, "openai_vector_stores_file_batches:v3::batch_1": `"batch"`,
				"prompts:v1:x": "null",
			},
			"vector_io::other": {"vector_stores:sqlite_vec:v3::vs_2": `"table"`, "openai_vector_stores:v3::vs_1": "null", "openai_vector_stores:v3::vs_2": `"two"`},
			"":                 {"faiss_index:v3::vs_1": `"index"`},
		} {
			for key, want := range keys {
				r := request{Config: c.text(w), Env: w.env, Namespace: &namespace, Do: [][]any{{"get", key}}}
				if got := string(w.ask(t, r)[0]); got != want {
					t.Errorf("%s in %q is %s, want %s\n%s", key, namespace, got, want, output)
				}
			}
		}
		// The program copies the entries only once. Afterwards, it does not restore an entry that a client deletes, and does
		// not copy an entry that is created later under an old key.
		w.do(t, c, []any{"delete", "vector_store", "vs_1"})
		w.restart(t, c)
		if slices.Contains(w.ids(t, c), "vector_store:vs_1") {
			t.Error("a vector store that a client deleted is in the registry again")
		}
	})
}

// TestPreflight shows that the program clears only the separate namespace of a preflight pod. If such a pod has the
// namespace of a stack, the program does not change the registry.
func TestPreflight(t *testing.T) {
	eachStore(t, func(t *testing.T, w *world) {
		c := declares(modelA)
		w.restart(t, c)
		w.do(t, c, vectorStore("vs_1"))
		before := w.ids(t, c)

		pod := w.pod(map[string]string{"LLS_PREFLIGHT": "true"})
		if w.store == "kv_sqlite" {
			pod.env["SQLITE_STORE_DIR"] = t.TempDir() // the preflight pod has its own volume
		} else {
			output := pod.run(t, c)
			if diff := cmp.Diff(before, w.ids(t, c)); diff != "" {
				t.Fatalf("a preflight pod without its own namespace changed the stack's namespace (-want +got):\n%s\n%s", diff, output)
			}
			pod.env["LLS_REGISTRY"] = w.namespace() + "/preflight"
		}
		for range 2 {
			pod.restart(t, c)
			if got := pod.ids(t, c); w.store != "kv_sqlite" && len(got) != 2 {
				t.Errorf("the registry of the preflight pod contains %s", got)
			}
			pod.do(t, c, vectorStore("vs_preflight"))
		}
		if diff := cmp.Diff(before, w.ids(t, c)); diff != "" {
			t.Errorf("the stack's registry (-want +got):\n%s", diff)
		}
	})
}

// TestMovedDirectory shows that a pod uses the data directory that a server has moved (server fact 77), and that it
// neither changes nor hides a directory that is still at its path.
func TestMovedDirectory(t *testing.T) {
	eachRelease(t, func(t *testing.T, w *world) {
		wanted, moved := filepath.Join(w.dir, ".llama"), filepath.Join(w.dir, ".ogx")
		w.env["OGX_CONFIG_DIR"], w.env["SQLITE_STORE_DIR"] = wanted, filepath.Join(wanted, "data")
		c := declares(modelA)
		w.restart(t, c)
		w.do(t, c, vectorStore("vs_client"))
		if err := os.Rename(wanted, moved); err != nil {
			t.Fatal(err)
		}
		w.restart(t, c)
		found := slices.Contains(w.ids(t, c), "vector_store:vs_client")
		if moves := w.rel.Runtime.MovedDir != ""; found != moves {
			t.Fatalf("the vector store is found: %t, want %t", found, moves)
		}
		if !found {
			return
		}
		if err := errors.Join(os.Remove(wanted), os.Mkdir(wanted, 0o700)); err != nil {
			t.Fatal(err)
		}
		if output := w.restart(t, c); !strings.Contains(output, "not the files in .ogx") {
			t.Errorf("the program does not report the second directory:\n%s", output)
		}
		if slices.Contains(w.ids(t, c), "vector_store:vs_client") {
			t.Error("the program replaced an existing directory")
		}
	})
}
