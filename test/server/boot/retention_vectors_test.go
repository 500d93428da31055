//go:build server && retention

package boot

import (
	"net/url"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

// vectorProvider describes a type of vector provider other than faiss.
type vectorProvider struct {
	kind string
	// store is the store for the stack's state.
	store string
	// settings returns the settings of the provider for the servers on this machine.
	settings func(t *testing.T, k *keptStack) fields
}

var vectorProviders = []vectorProvider{
	{kind: "inline::sqlite-vec", store: onSQLite, settings: sqliteVec},
	{kind: "remote::pgvector", store: onPostgres, settings: pgvector},
	{kind: "remote::chromadb", store: onSQLite, settings: chroma},
}

// TestRetentionVectors changes the models of stacks with vector providers other than faiss, and searches their vector
// stores.
func TestRetentionVectors(t *testing.T) {
	releases, _ := retentionScope(t)
	for _, rel := range releases {
		for _, p := range vectorProviders {
			t.Run(rel.Version+"/"+p.kind, func(t *testing.T) {
				t.Parallel()
				for _, step := range newVectors(t, rel, p).steps() {
					t.Run(step.name, step.run)
				}
			})
		}
	}
}

const vectorID = "vectors"

func newVectors(t *testing.T, rel *release.Release, p vectorProvider) *retention {
	t.Helper()
	k := newKeptStack(t, rel, p.store, retentionBase(t, rel, []string{}))
	provider := fields{"id": vectorID, "provider": p.kind}
	settings := p.settings(t, k)
	if password, ok := settings["password"]; ok {
		provider["password"] = password
		delete(settings, "password")
	}
	if len(settings) > 0 {
		provider["settings"] = settings
	}
	k.change(t, func(spec map[string]any) { mapping(spec, "providers")["vectorIo"] = []any{provider} })
	return &retention{stack: k, clientText: "The client keeps its bees in the attic."}
}

func (r *retention) steps() []namedTest {
	look := func(t *testing.T) {
		r.stack.start(t, func(server *llamaStack) error { return r.kept(t.Context(), server) })
	}
	return []namedTest{
		{"first start", func(t *testing.T) {
			r.stack.start(t, func(server *llamaStack) (err error) {
				r.ofClient, err = server.vectorStoreWithFile(t.Context(), "of a client", vectorID, r.public("embed", ""),
					r.clientText)
				return err
			})
		}},
		{"metadata changed", func(t *testing.T) {
			r.model(t, "plain", fields{"contextLength": 64123})
			look(t)
		}},
		{"model removed", func(t *testing.T) {
			r.models(t, func(models []any) []any { return models[:len(models)-1] })
			look(t)
		}},
	}
}

// sqliteVec adds a build of SQLite that can load extensions, because the SQLite in some builds of Python does not
// support extensions.
func sqliteVec(t *testing.T, k *keptStack) fields {
	t.Helper()
	packages, err := realserver.InstallSQLite(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	k.behind(t, "testdata/sqlite", packages)
	return nil
}

// behind appends Python packages to the module search path, after the release's own packages. It uses a module that
// every Python process of the pod loads first.
func (k *keptStack) behind(t *testing.T, module, packages string) {
	t.Helper()
	path, err := filepath.Abs(module)
	if err != nil {
		t.Fatal(err)
	}
	k.env = append(k.env, "PYTHONPATH="+path, "PACKAGES_BEHIND="+packages)
}

// pgvector creates the extension in the stack's own database, and returns the settings for this database.
func pgvector(t *testing.T, k *keptStack) fields {
	t.Helper()
	if _, err := k.on.db.query(t.Context(), "CREATE EXTENSION vector"); err != nil {
		t.Fatal(err)
	}
	k.secrets["vector-creds"] = map[string]string{"password": k.on.db.password}
	return fields{
		"host": k.on.db.host, "port": k.on.db.port, "db": k.on.db.name, "user": postgresUser,
		"password": secretKey("vector-creds", "password"),
	}
}

// chroma starts a Chroma server, adds its client library to the packages of the release, and returns the settings for
// this server.
func chroma(t *testing.T, k *keptStack) fields {
	t.Helper()
	environment, err := realserver.InstallChroma(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	port, err := testutil.FreePort()
	if err != nil {
		t.Fatal(err)
	}
	address := "127.0.0.1:" + strconv.Itoa(port)
	cmd := exec.Command(filepath.Join(environment.Bin, "chroma"), "run", "--path", t.TempDir(), "--host", "127.0.0.1",
		"--port", strconv.Itoa(port))
	cmd.Dir = t.TempDir()
	p, err := startProcess(t, cmd, syscall.SIGTERM)
	if err != nil {
		t.Fatal(err)
	}
	p.waitListening(t, address)
	k.behind(t, "testdata/behind", environment.Packages)
	return fields{"url": (&url.URL{Scheme: "http", Host: address}).String()}
}
