//go:build server && models

package boot

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

// miniLM is the name of the test's embedding model on Hugging Face. miniLMDimension is the length of the model's
// vectors.
const (
	miniLM          = "sentence-transformers/all-MiniLM-L6-v2"
	miniLMDimension = 384
)

// TestOfflineModels tests offline stacks with an embedding model that the server itself loads from the volume of model
// files. A search with a question finds the text that answers the question, although their only common word is "the".
// Without the files, the server starts, a request that uses the model fails, and the log contains the address of
// Hugging Face.
func TestOfflineModels(t *testing.T) {
	releases := offlineReleases(t)
	for _, rel := range releases {
		if _, err := realserver.Install(t.Context(), rel.Version); err != nil {
			t.Fatal(err)
		}
	}
	models, err := realserver.InstallModels(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !withoutNetwork(t) {
		return
	}
	hub := hubCache(t, models.MiniLM)
	for _, rel := range releases {
		t.Run(rel.Version, func(t *testing.T) {
			answersWithModel(t, rel, models.Packages, hub)
			missesModel(t, rel, models.Packages)
		})
	}
}

func answersWithModel(t *testing.T, rel *release.Release, packages, hub string) {
	t.Helper()
	server := bootWithModel(t, rel, packages, map[string]string{"tiktoken": support.Tokenizer, "hub": hub})
	t.Logf("offline: %s healthy after %.1f s", rel.Version, server.boot.Seconds())
	store := newStore(t, server, rel)
	const text = "Winter apples lie in the cellar behind the mill."
	for _, text := range []string{"The train to the coast leaves at noon.", text, "A kernel schedules threads."} {
		if err := server.attach(t.Context(), store, text); err != nil {
			t.Fatal(err)
		}
	}
	var found struct {
		Data []struct {
			Content []struct {
				Text string `json:"text"`
			} `json:"content"`
		} `json:"data"`
	}
	body := map[string]any{"query": "Where is the fruit kept?", "max_num_results": 1}
	if err := server.ask(t.Context(), http.MethodPost, "/v1/vector_stores/"+store+"/search", body, &found); err != nil {
		t.Fatal(err)
	}
	if len(found.Data) != 1 || len(found.Data[0].Content) != 1 || found.Data[0].Content[0].Text != text {
		t.Fatalf("the search finds %+v, want %q", found.Data, text)
	}
	t.Logf("offline: %s finds the text that answers a question", rel.Version)
	server.stop()
}

// missesModel checks that the operator accepts a stack without the files of a model, that the server starts, that a
// request for the model fails, and that the log contains the address of Hugging Face.
func missesModel(t *testing.T, rel *release.Release, packages string) {
	t.Helper()
	server := bootWithModel(t, rel, packages, map[string]string{"tiktoken": support.Tokenizer})
	path, err := server.route(t.Context(), http.MethodPost, "/embeddings")
	if err != nil {
		t.Fatal(err)
	}
	m := model{provider: "sentence-transformers", name: miniLM, upstream: miniLM}
	if err := server.do(t.Context(), http.MethodPost, path, map[string]any{"model": m.public(rel), "input": "a"},
		nil); err == nil {
		t.Error("the server can use a model without its files")
	}
	if !strings.Contains(server.process.log.text(), "huggingface.co") {
		t.Errorf("the server does not report the source of the model:\n%s", server.process.log.tail(logTail))
	}
	t.Logf("offline: %s starts without the model", rel.Version)
	server.stop()
}

func newStore(t *testing.T, server *llamaStack, rel *release.Release) string {
	t.Helper()
	m := model{provider: "sentence-transformers", name: miniLM, upstream: miniLM}
	var made struct {
		ID string `json:"id"`
	}
	body := map[string]any{
		"name": "offline", "provider_id": "faiss", "embedding_model": m.public(rel),
		"embedding_dimension": miniLMDimension,
	}
	if err := server.ask(t.Context(), http.MethodPost, "/v1/vector_stores", body, &made); err != nil {
		t.Fatal(err)
	}
	return made.ID
}

// bootWithModel starts the server of the stack with additional Python packages, and with directories in its volume of
// model files.
func bootWithModel(t *testing.T, rel *release.Release, packages string, directories map[string]string) *llamaStack {
	t.Helper()
	s := offlineSample(t, rel, offlinePlace(t), func(spec map[string]any) {
		withoutKeys(spec)
		disabled := slices.DeleteFunc(list(spec, "disabled"), func(item any) bool { return item == "inference/sentence-transformers" })
		if spec["disabled"] = disabled; len(disabled) == 0 {
			delete(spec, "disabled")
		}
		mapping(spec, "resources")["models"] = []any{map[string]any{
			"name": miniLM, "provider": "sentence-transformers", "modelType": "embedding",
			"metadata": map[string]any{"embedding_dimension": miniLMDimension},
		}}
	})
	p := generate(t, rel, s, t.TempDir())
	behind, err := filepath.Abs("testdata/behind")
	if err != nil {
		t.Fatal(err)
	}
	p.env = append(p.env, "PYTHONPATH="+behind, "PACKAGES_BEHIND="+packages)
	server, err := bootWithFiles(t, rel, s, p, directories)
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// hubCache returns a cache directory with the model, in the form that huggingface_hub writes.
func hubCache(t *testing.T, files string) string {
	t.Helper()
	const commit = "0123456789abcdef0123456789abcdef01234567"
	hub := t.TempDir()
	model := filepath.Join(hub, "models--sentence-transformers--all-MiniLM-L6-v2")
	if err := os.MkdirAll(filepath.Join(model, "refs"), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, filepath.Join(model, "refs", "main"), commit)
	if err := os.CopyFS(filepath.Join(model, "snapshots", commit), os.DirFS(files)); err != nil {
		t.Fatal(err)
	}
	return hub
}
