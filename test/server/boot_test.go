//go:build server

package server

import (
	"context"
	"net/http"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/validate"
)

// sampleCase is what a running server must show for one sample.
type sampleCase struct {
	file string
	// providers of the user; the base's others are served beside them.
	providers []provider
	models    []servedModel
	shields   []string
	// connectors are the MCP servers.
	connectors []string
	postgres   bool // the sample keeps state in PostgreSQL
}

// servedModel is a model of the sample: the server serves it as public and asks
// the model server for upstream, with the Secret's token.
type servedModel struct {
	public, upstream string
	secret, key      string
}

var sampleCases = []sampleCase{
	{
		file:      "v1alpha2-simple.yaml",
		providers: []provider{{API: "inference", ID: "vllm", Type: "remote::vllm"}},
		models:    []servedModel{{"vllm/llama3.2-8b", "llama3.2-8b", "vllm-creds", "token"}},
	},
	{
		file: "v1alpha2-multi-provider.yaml",
		providers: []provider{
			{API: "inference", ID: "vllm-small", Type: "remote::vllm"},
			{API: "inference", ID: "vllm-large", Type: "remote::vllm"},
			{API: "inference", ID: "openai", Type: "remote::openai"},
			{API: "safety", ID: "llama-guard", Type: "inline::llama-guard"},
			{API: "tool_runtime", ID: "tavily-search", Type: "remote::tavily-search"},
		},
		models: []servedModel{
			{"vllm-small/llama3.2-3b", "llama3.2-3b", "model-servers", "small-token"},
			{"vllm-large/llama3.3-70b", "llama3.3-70b", "model-servers", "large-token"},
			{"openai/gpt-4o-mini", "gpt-4o-mini", "model-servers", "openai-key"},
		},
		shields:    []string{"llama-guard"},
		connectors: []string{"tickets"},
	},
	{
		file:      "v1alpha2-postgres.yaml",
		providers: []provider{{API: "inference", ID: "vllm", Type: "remote::vllm"}},
		models:    []servedModel{{"vllm/llama3.2-8b", "llama3.2-8b", "vllm-creds", "token"}},
		postgres:  true,
	},
	{
		file: "v1alpha2-full.yaml",
		providers: []provider{
			{API: "inference", ID: "vllm-primary", Type: "remote::vllm"},
			{API: "safety", ID: "llama-guard", Type: "inline::llama-guard"},
			{API: "vector_io", ID: "pgvector", Type: "remote::pgvector"},
		},
		models: []servedModel{
			{"vllm-primary/llama3.2-8b", "llama3.2-8b", "vllm-creds", "token"},
			{"vllm-primary/llama3.2-70b", "llama3.2-70b", "vllm-creds", "token"},
		},
		shields:  []string{"llama-guard"},
		postgres: true,
	},
}

// TestSamplesBoot boots every sample and asks the server for what it promises.
func TestSamplesBoot(t *testing.T) {
	for _, tc := range sampleCases {
		t.Run(tc.file, func(t *testing.T) {
			t.Parallel()
			s := readSample(t, tc.file)
			models := startUpstream(t)
			var db *database
			if tc.postgres {
				started := startPostgres(t)
				db = &started
			}
			s.fitMachine(t, models, db)

			server := bootSample(t, s, t.TempDir())
			t.Logf("healthy after %.1f s", server.boot.Seconds())
			checkProviders(t, server, tc.providers)
			checkList(t, server, "/v1/models", "id", publicIDs(tc.models))
			checkList(t, server, "/v1/shields", "identifier", tc.shields)
			checkList(t, server, "/v1beta/connectors", "connector_id", tc.connectors)
			for _, model := range tc.models {
				checkChat(t, server, models, model, s.secrets[model.secret][model.key])
			}
			if db != nil {
				checkState(t, *db)
			}
		})
	}
}

// TestSampleCases holds the table and the directory of samples equal.
func TestSampleCases(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(samples, "v1alpha2-*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	var want, got []string
	for _, file := range files {
		want = append(want, filepath.Base(file))
	}
	for _, tc := range sampleCases {
		got = append(got, tc.file)
	}
	slices.Sort(got)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("samples that boot differ from those in %s (-directory +table):\n%s", samples, diff)
	}
}

// bootSample generates the pod and boots what runs in it, with its files below root.
func bootSample(t *testing.T, s sample, root string) *llamaStack {
	t.Helper()
	b := boot{client: http.DefaultClient, scheme: "http", secrets: s.secrets.values()}
	wantTLS := servesTLS(s.stack)
	if wantTLS {
		var pair keyPair
		pair, b.client = newKeyPair(t)
		b.scheme = "https"
		b.secrets = append(b.secrets, string(pair.key))
		s.secrets[s.stack.Spec.Networking.TLS.SecretName] = map[string]string{
			"tls.crt": string(pair.certificate), "tls.key": string(pair.key),
		}
	}
	p := generate(t, s, root)
	if got := p.servesTLS(t); got != wantTLS {
		t.Fatalf("the configuration has TLS: %t, want %t", got, wantTLS)
	}
	b.config, b.env, b.home = p.config, p.env, p.home(t)
	server, err := startServer(t, b)
	if err != nil {
		t.Fatal(err)
	}
	return server
}

// servesTLS says whether the object wants HTTPS of the server and this release
// of the operator can do it.
func servesTLS(stack *v1alpha2.LlamaStackDistribution) bool {
	networking := stack.Spec.Networking
	return networking != nil && networking.TLS != nil && networking.TLS.Enabled &&
		!slices.Contains(validate.Unsupported(stack), "spec.networking.tls.enabled")
}

func checkProviders(t *testing.T, server *llamaStack, want []provider) {
	t.Helper()
	served, err := server.providers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, provider := range want {
		if !slices.Contains(served, provider) {
			t.Errorf("/v1/providers has no %+v; it has %+v", provider, served)
		}
	}
	for _, provider := range served {
		if slices.Contains(needWeights, provider.API+"/"+provider.ID) {
			t.Errorf("/v1/providers has %+v, which spec.disabled takes away", provider)
		}
	}
}

// checkList shows that the server lists the wanted ids; it may list more.
func checkList(t *testing.T, server *llamaStack, path, key string, want []string) {
	t.Helper()
	listed, err := server.list(t.Context(), path, key)
	if err != nil {
		t.Error(err)
		return
	}
	for _, id := range want {
		if !slices.Contains(listed, id) {
			t.Errorf("%s has no %q; it has %q", path, id, listed)
		}
	}
}

func publicIDs(models []servedModel) []string {
	ids := make([]string, 0, len(models))
	for _, model := range models {
		ids = append(ids, model.public)
	}
	return ids
}

// checkChat shows that a request goes through the server to the model server
// that the sample names, with the credential of its Secret.
func checkChat(t *testing.T, server *llamaStack, models *upstream, model servedModel, token string) {
	t.Helper()
	said, err := server.chat(t.Context(), model.public)
	if err != nil {
		t.Error(err)
		return
	}
	if said != answer {
		t.Errorf("%q says %q, want %q", model.public, said, answer)
	}
	headers := models.chats(model.upstream)
	if len(headers) != 1 || headers[0] != "Bearer "+token {
		// Never the headers: one may hold a secret.
		t.Errorf("the model server was asked for %q %d times; the last with the Secret's token: %t",
			model.upstream, len(headers), len(headers) > 0 && headers[len(headers)-1] == "Bearer "+token)
	}
}

// checkState shows that the server keeps its chats in PostgreSQL. It connects
// and writes in the background, so that a boot alone shows nothing.
func checkState(t *testing.T, db database) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		rows, err := db.count(ctx, "inference_store")
		if err == nil && rows > 0 {
			return
		}
		select {
		case <-ctx.Done():
			t.Errorf("PostgreSQL holds none of the chats (last count: %d, %v)", rows, err)
			return
		case <-tick.C:
		}
	}
}
