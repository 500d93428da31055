//go:build server

package boot

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/corpus"
)

// stackCase is the expected state of a running server for one object.
type stackCase struct {
	file string
	// providers lists the user's providers. The server also has the other providers of the base. The test does not look
	// for providers of an API that the release does not have.
	providers []provider
	models    []model
	shields   []string
	// mcp lists the names of the MCP servers.
	mcp []string
	// single is the API that must have at most one provider. The value * means every API.
	single string
}

// model is a model of the object. When a client uses this model, the server must send a request to the model server.
// The request must contain the model name that the field upstream of this struct contains, and the Secret's token.
type model struct {
	provider, name, upstream string
	secret, key              string
}

var stackCases = []stackCase{
	{
		file:      "v1alpha2-simple.yaml",
		providers: []provider{{API: "inference", ID: "vllm", Type: "remote::vllm"}},
		models:    []model{{"vllm", "llama3.2-8b", "llama3.2-8b", "vllm-creds", "token"}},
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
		models: []model{
			{"vllm-small", "llama3.2-3b", "llama3.2-3b", "model-servers", "small-token"},
			{"vllm-large", "llama3.3-70b", "llama3.3-70b", "model-servers", "large-token"},
			{"openai", "gpt-4o-mini", "gpt-4o-mini", "model-servers", "openai-key"},
		},
		shields: []string{"llama-guard"},
		mcp:     []string{"tickets"},
	},
	{
		file:      "v1alpha2-postgres.yaml",
		providers: []provider{{API: "inference", ID: "vllm", Type: "remote::vllm"}},
		models:    []model{{"vllm", "llama3.2-8b", "llama3.2-8b", "vllm-creds", "token"}},
	},
	{
		file: "v1alpha2-full.yaml",
		providers: []provider{
			{API: "inference", ID: "vllm-primary", Type: "remote::vllm"},
			{API: "safety", ID: "llama-guard", Type: "inline::llama-guard"},
			{API: "vector_io", ID: "pgvector", Type: "remote::pgvector"},
		},
		models: []model{
			{"vllm-primary", "llama3.2-8b", "llama3.2-8b", "vllm-creds", "token"},
			{"vllm-primary", "llama3.2-70b", "llama3.2-70b", "vllm-creds", "token"},
		},
		shields: []string{"llama-guard"},
	},
	{
		file:      "testdata/volume.yaml",
		providers: []provider{{API: "inference", ID: "vllm", Type: "remote::vllm"}},
		models:    []model{{"vllm", "llama3.2-8b", "llama3.2-8b", "vllm-creds", "token"}},
	},
	{
		file:      "testdata/postgres-demo.yaml",
		providers: []provider{{API: "inference", ID: "vllm-inference", Type: "remote::vllm"}},
		models:    []model{{"vllm-inference", "llama3.2-8b", "llama3.2-8b", "vllm-creds", "token"}},
	},
	{
		file:      "testdata/redis-postgres.yaml",
		providers: []provider{{API: "inference", ID: "vllm", Type: "remote::vllm"}},
		models:    []model{{"vllm", "llama", "meta-llama/Llama-3.2", "vllm-creds", "token"}},
	},
	{
		file:      "testdata/own-providers.yaml",
		providers: []provider{{API: "inference", ID: "vllm", Type: "remote::vllm"}},
		models:    []model{{"vllm", "llama3.2-8b", "llama3.2-8b", "vllm-creds", "token"}},
		single:    "*",
	},
	{
		file:      "testdata/wildcards.yaml",
		providers: []provider{{API: "inference", ID: "vllm", Type: "remote::vllm"}},
		models:    []model{{"vllm", "llama3.2-8b", "llama3.2-8b", "vllm-creds", "token"}},
		single:    "inference",
	},
	{
		file:      "testdata/redis-sqlite.yaml",
		providers: []provider{{API: "inference", ID: "vllm", Type: "remote::vllm"}},
		models:    []model{{"vllm", "llama3.2-8b", "llama3.2-8b", "vllm-creds", "token"}},
	},
}

// checkSingle checks that the server has at most one provider of an API, or of each API if the parameter is *.
func checkSingle(t *testing.T, server *llamaStack, api string) {
	t.Helper()
	served, err := server.providers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	of := map[string][]string{}
	for _, p := range served {
		if of[p.API] = append(of[p.API], p.ID); len(of[p.API]) > 1 && (api == "*" || api == p.API) {
			t.Errorf("/v1/providers has more than one provider of %s: %q", p.API, of[p.API])
		}
	}
}

// TestStacksBoot starts a server for every object and every selected release, and checks that the server matches the
// object.
func TestStacksBoot(t *testing.T) {
	t.Parallel()
	eachRelease(t, func(t *testing.T, rel *release.Release) {
		for _, tc := range stackCases {
			t.Run(filepath.Base(tc.file), func(t *testing.T) {
				t.Parallel()
				tc.check(t, rel)
			})
		}
	})
}

func (tc *stackCase) check(t *testing.T, rel *release.Release) {
	s := readSample(t, tc.file)
	s.fit(t, rel, s.planned())
	once(t, rel, func() { tc.boot(t, rel) }, s.input(t, rel))
}

func (tc *stackCase) boot(t *testing.T, rel *release.Release) {
	t.Helper()
	s := readSample(t, tc.file)
	on := s.startPlace(t, rel)
	for _, model := range tc.models {
		on.models.serve(model.upstream)
	}
	s.fit(t, rel, on)

	server := bootSample(t, rel, s, t.TempDir())
	t.Logf("healthy after %.1f s", server.boot.Seconds())
	checkVersion(t, server, rel)
	checkProviders(t, server, rel, tc.providers)
	checkSingle(t, server, tc.single)
	checkProber(t, server, rel, tc.providers, s.secrets.values())
	for _, model := range tc.models {
		checkModel(t, server, rel, on.models, model, s.secrets[model.secret][model.key])
	}
	if _, ok := rel.Resource("shields"); ok && len(tc.shields) > 0 {
		checkList(t, server, "/v1/shields", tc.shields)
	}
	checkMCP(t, server, rel, tc.mcp)
	if on.db != nil && slices.Contains(chatsLost, rel.Line) {
		checkTable(t, on.db, "chat_completions")
	} else {
		checkState(t, server, on.db, 0, tc.again(t, rel, server, s))
	}
	if server.failed > 0 {
		t.Logf("number of failed first requests: %d", server.failed)
	}
}

// bootSample generates the pod and starts its programs. The pod's files are below the given directory.
func bootSample(t *testing.T, rel *release.Release, s sample, root string) *llamaStack {
	t.Helper()
	server, err := tryBoot(t, rel, s, root)
	if failed, ok := errors.AsType[*bootError](err); ok && render.Workers(&s.stack.Spec) > 1 {
		// Two processes that create the same tables in an empty database can conflict. The process that fails terminates both
		// processes, and the kubelet starts them again.
		t.Logf("the server is started again after: %s", strings.Join(exceptions(failed.log), "; "))
		server, err = tryBoot(t, rel, s, root)
	}
	if err != nil {
		t.Fatal(err)
	}
	return server
}

func tryBoot(t *testing.T, rel *release.Release, s sample, root string) (*llamaStack, error) {
	t.Helper()
	b := boot{release: rel, client: http.DefaultClient, scheme: "http", secrets: s.secrets.values()}
	wantTLS := servesTLS(s.stack)
	if wantTLS {
		var pair keyPair
		pair, b.client = newKeyPair(t)
		b.scheme = "https"
		b.secrets = append(b.secrets, string(pair.key))
		s.addKeyPair(pair)
	}
	p := generate(t, rel, s, root)
	if got := p.servesTLS(t); got != wantTLS {
		t.Fatalf("the configuration enables TLS: %t, want %t", got, wantTLS)
	}
	b.config, b.env, b.home, b.wrapper = p.config, p.env, p.home(t), p.wrapper
	if rel.TopLevel.HasPath("server.workers") {
		b.workers = int(render.Workers(&s.stack.Spec))
	}
	return startServer(t, b)
}

// keyPair contains the data of a Secret of type kubernetes.io/tls.
type keyPair struct{ certificate, key []byte }

// newKeyPair creates a certificate that is valid during the test, and a client that trusts only this certificate.
func newKeyPair(t *testing.T) (keyPair, *http.Client) {
	t.Helper()
	certificate, key := testutil.NewCertificate(t, time.Now().Add(time.Hour))
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(certificate)
	client := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
		RootCAs: roots, ServerName: "localhost", MinVersion: tls.VersionTLS12,
	}}}
	t.Cleanup(client.CloseIdleConnections)
	return keyPair{certificate, key}, client
}

// addKeyPair adds the Secret with the certificate of the server.
func (s *sample) addKeyPair(pair keyPair) {
	s.secrets[s.stack.Spec.Networking.TLS.SecretName] = map[string]string{
		"tls.crt": string(pair.certificate), "tls.key": string(pair.key),
	}
}

// servesTLS reports whether the object configures HTTPS for the server.
func servesTLS(stack *v1alpha2.LlamaStackDistribution) bool {
	networking := stack.Spec.Networking
	return networking != nil && networking.TLS != nil && networking.TLS.Enabled
}

func checkVersion(t *testing.T, server *llamaStack, rel *release.Release) {
	t.Helper()
	var said struct {
		Version string `json:"version"`
	}
	if err := server.get(t.Context(), "/v1/version", &said); err != nil {
		t.Error(err)
	} else if said.Version != rel.Version {
		t.Errorf("/v1/version returns %q, want %q", said.Version, rel.Version)
	}
}

func checkProviders(t *testing.T, server *llamaStack, rel *release.Release, want []provider) {
	t.Helper()
	served, err := server.providers(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, provider := range want {
		if _, ok := rel.API(provider.API); ok && !slices.Contains(served, provider) {
			t.Errorf("/v1/providers does not list %+v, only %+v", provider, served)
		}
	}
	for _, provider := range served {
		if kind, ok := rel.Provider(provider.API, provider.Type); ok && corpus.Heavy(kind) != "" {
			t.Errorf("/v1/providers has %+v, which spec.disabled removes", provider)
		}
	}
}

// checkList checks that the server lists the expected IDs. It may also list other IDs.
func checkList(t *testing.T, server *llamaStack, path string, want []string) {
	t.Helper()
	listed, err := server.list(t.Context(), path)
	if err != nil {
		t.Error(err)
		return
	}
	for _, id := range want {
		if !slices.Contains(listed, id) {
			t.Errorf("%s does not list %q, only %q", path, id, listed)
		}
	}
}

// public returns the ID under which clients use a model, according to the release data.
func (m *model) public(rel *release.Release) string {
	models, _ := rel.Resource("models")
	return models.Public(m.name, m.provider, m.upstream)
}

// checkModel checks that a model exists with its public ID, and that the server sends a request for it to the object's
// model server, with the credential from the Secret.
func checkModel(t *testing.T, server *llamaStack, rel *release.Release, models *upstream, m model, token string) {
	t.Helper()
	public := m.public(rel)
	checkList(t, server, "/v1/models", []string{public})
	before := server.failed
	said, err := server.chat(t.Context(), public)
	if err != nil {
		t.Error(err)
		return
	}
	if said != answer {
		t.Errorf("the answer of the model %q is %q, want %q", public, said, answer)
	}
	headers := models.chats(m.upstream)
	// If the test repeated a request after an internal error, the server may have sent more than one request.
	asked := len(headers) > 0 && len(headers) <= 1+server.failed-before
	if right := slices.Repeat([]string{"Bearer " + token}, len(headers)); !asked || !slices.Equal(headers, right) {
		// The message omits the headers, because they may contain a secret.
		t.Errorf("the model server was asked for %q %d times; the last with the Secret's token: %t",
			m.upstream, len(headers), len(headers) > 0 && headers[len(headers)-1] == "Bearer "+token)
	}
}

// checkMCP checks that the server lists the MCP servers and their tools, and that the prober returns the MCP servers.
// It skips a release that cannot list them.
func checkMCP(t *testing.T, server *llamaStack, rel *release.Release, names []string) {
	t.Helper()
	for _, name := range names {
		if rel.Tools.MCP == "tool_groups" {
			checkList(t, server, "/v1/toolgroups", []string{name})
			checkList(t, server, "/v1/tools?toolgroup_id="+name, []string{mcpTool})
			continue
		}
		connectors, err := server.route(t.Context(), http.MethodGet, "/connectors")
		if err != nil {
			t.Error(err)
		}
		if connectors == "" {
			t.Logf("release %s has no path that lists connectors", rel.Version)
			return
		}
		checkList(t, server, connectors, []string{name})
		checkList(t, server, connectors+"/"+name+"/tools", []string{mcpTool})
	}
	if len(names) == 0 {
		return
	}
	answer := server.probed(t)
	for _, name := range names {
		if !slices.Contains(answer.MCPServers, v1alpha2.MCPServerStatus{ID: name}) {
			t.Errorf("the prober does not get the MCP server %q, only %v", name, answer.MCPServers)
		}
	}
}

// stateTimeout is the time limit for the server to write a chat in the background. With releases 0.6 to 0.8, this takes
// up to a minute on a busy machine.
const stateTimeout = 4 * time.Minute

// again returns a function that sends one more chat if the server has several processes. These processes may have tried
// to create the same tables in an empty database at the same time. A process in which this caused an error does not
// store its chats, and this process may have received the first chat.
func (tc *stackCase) again(t *testing.T, rel *release.Release, server *llamaStack, s sample) func() error {
	if render.Workers(&s.stack.Spec) == 1 {
		return func() error { return nil }
	}
	return func() error {
		_, err := server.chat(t.Context(), tc.models[0].public(rel))
		return err
	}
}

// checkState checks that the server stores its chats, in PostgreSQL if the object configures it. A successful start
// does not show that the server stores its chats, because the server connects and writes in the background. checkState
// polls until the server lists more chats than before, and calls the given function after each attempt. It returns the
// number of chats.
func checkState(t *testing.T, server *llamaStack, db *database, before int, again func() error) (kept int) {
	t.Helper()
	err := server.process.poll(stateTimeout, time.Second, func() (err error) {
		kept, err = server.kept(t.Context())
		rows := kept
		if err == nil && db != nil {
			rows, err = db.count(t.Context(), "inference_store")
		}
		if err == nil && kept > before && rows > 0 {
			return nil
		}
		return errors.Join(fmt.Errorf("the server lists %d chats, and PostgreSQL contains %d: %w", kept, rows, err), again())
	})
	if err != nil {
		t.Errorf("the server did not store a chat: %v", err)
	}
	return kept
}

// chatsLost lists the release lines that do not store chats in PostgreSQL. The task that writes chats belongs to
// an event loop that ends once the server has started, so the task never runs
// (providers/utils/inference/inference_store.py). The server creates the table of chats nevertheless.
var chatsLost = []string{"0.2"}

func checkTable(t *testing.T, db *database, table string) {
	t.Helper()
	if _, err := db.count(t.Context(), table); err != nil {
		t.Errorf("the server did not create its table %q in PostgreSQL: %v", table, err)
	}
}

// TestStackCases checks that stackCases has an element for each file in the directories of objects.
func TestStackCases(t *testing.T) {
	var want, got []string
	for _, pattern := range []string{filepath.Join(samples, "v1alpha2-*.yaml"), "testdata/*.yaml"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			want = append(want, filepath.Base(file))
		}
	}
	for _, tc := range stackCases {
		got = append(got, filepath.Base(tc.file))
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		t.Errorf("the table contains %q, but the directories contain %q", got, want)
	}
}
