//go:build server

package registry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/startup"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

// releases returns the releases with which the tests run.
func releases(t *testing.T) []*release.Release {
	t.Helper()
	found, err := realserver.Releases()
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(found, func(r *release.Release) bool { return r.Registry.KeyPrefix == "" })
}

// stores are the types of backends that can contain the registry.
var stores = []string{"kv_sqlite", "kv_redis", "kv_postgres"}

// one is the number of worlds so far. Each world uses this number to create its own keys.
var one atomic.Int64

// world is the registry of a stack in a separate store, and the release's Python.
type world struct {
	*peer
	rel    *release.Release
	python string
	script string // the directory that contains the program
	store  string // type of the backend
	dir    string // the stack's volume
	base   string // the namespace of the registry in the base configuration
	uri    bool   // whether the configuration contains a connection string for PostgreSQL
	env    map[string]string
}

// eachRelease runs a test for each release, and eachStore for each store of each release, unless the test passed before
// with the same inputs; see realserver.Once. The tests must not have subtests.
func eachRelease(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	eachReleaseAgain(t, func(t *testing.T, w *world) { w.once(t, func() { test(t, w) }) })
}

func eachStore(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	eachStoreAgain(t, func(t *testing.T, w *world) { w.once(t, func() { test(t, w) }) })
}

// once runs a test with the release's Python, unless it passed before with the same inputs.
func (w *world) once(t *testing.T, run func()) {
	t.Helper()
	realserver.Once(t, []string{w.rel.Version}, run)
}

// eachReleaseAgain and eachStoreAgain do the same as eachRelease and eachStore, but in every run.
func eachReleaseAgain(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	script := program(t)
	for _, rel := range releases(t) {
		t.Run(rel.Version, func(t *testing.T) {
			p, python := peerOf(t, rel.Version)
			test(t, (&world{peer: p, rel: rel, python: python, script: script}).with(t, "kv_sqlite"))
		})
	}
}

func eachStoreAgain(t *testing.T, test func(t *testing.T, w *world)) {
	t.Helper()
	eachReleaseAgain(t, func(t *testing.T, w *world) {
		for _, store := range stores {
			t.Run(store, func(t *testing.T) { test(t, w.with(t, store)) })
		}
	})
}

// program writes the program's files to a directory and returns the directory.
func program(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range startup.Files() {
		writeFile(t, filepath.Join(dir, name), text)
	}
	return dir
}

// with returns a world with the same release and an empty store.
func (w *world) with(t *testing.T, store string) *world {
	t.Helper()
	fresh := *w
	fresh.store, fresh.dir = store, t.TempDir()
	fresh.base = "registry" + strconv.FormatInt(one.Add(1), 10)
	fresh.env = map[string]string{
		"HOME": fresh.dir, "SQLITE_STORE_DIR": filepath.Join(fresh.dir, "data"), "LLS_GENERATION": "stack-1/1",
		// A URL needs the encoded password, and a setting needs the plain password.
		"REDIS_PASSWORD": url.PathEscape(password), "POSTGRES_PASSWORD": password,
	}
	return &fresh
}

// pod returns the world for an additional pod of the same stack, with additional environment variables.
func (w *world) pod(env map[string]string) *world {
	other := *w
	other.env = maps.Clone(w.env)
	maps.Copy(other.env, env)
	return &other
}

// namespace returns the registry's own namespace, in the form that the program uses.
func (w *world) namespace() string {
	if w.store == "kv_sqlite" {
		return w.base
	}
	return w.base + "/team-a/my-stack"
}

// backend returns the registry's backend as YAML for a configuration.
func (w *world) backend() string {
	switch w.store {
	case "kv_redis":
		return fmt.Sprintf(`{type: kv_redis, host: ":${env.REDIS_PASSWORD}@127.0.0.1", port: %d}`, shared.redis)
	case "kv_postgres":
		if w.uri {
			return fmt.Sprintf(`{type: kv_postgres, connection_string: "${env.POSTGRES_URI}", table_name: %s, pool_size: 1, max_overflow: 1}`, w.base)
		}
		return fmt.Sprintf(`{type: kv_postgres, host: 127.0.0.1, port: %d, db: postgres, user: %s, password: "${env.POSTGRES_PASSWORD}", table_name: %s, pool_size: 1, max_overflow: 1}`,
			shared.postgres, postgresUser, w.base)
	}
	return `{type: kv_sqlite, db_path: "${env.SQLITE_STORE_DIR:=~/never}/kvstore.db"}`
}

// config contains the declarations of a configuration.
type config struct {
	lists     map[string][]string // entries of registered_resources, in YAML's short form
	providers map[string][]string // grouped by API; if nil, the default providers are used
	inFull    string              // replaces the text that the other fields define
}

var usual = map[string][]string{
	"inference":    {`{provider_id: vllm, provider_type: "remote::vllm", config: {}}`},
	"safety":       {`{provider_id: guard, provider_type: "inline::llama-guard", config: {}}`},
	"scoring":      {`{provider_id: basic, provider_type: "inline::basic", config: {}}`},
	"tool_runtime": {`{provider_id: search, provider_type: "remote::brave-search", config: {}}`},
	"vector_io": {
		`{provider_id: faiss, provider_type: "inline::faiss", config: {persistence: {namespace: "vector_io::faiss", backend: kv_default}}}`,
		`{provider_id: other, provider_type: "inline::sqlite-vec", config: {persistence: {namespace: "vector_io::other", backend: kv_default}}}`,
	},
}

const embedding = `{model_id: e, provider_id: vllm, model_type: embedding, metadata: {embedding_dimension: 3}}`

// text returns the text of the configuration for a world.
func (c config) text(w *world) string {
	if c.inFull != "" {
		return c.inFull
	}
	var b strings.Builder
	fmt.Fprintln(&b, "version: 2\nimage_name: small\ndistro_name: small\napis: [inference]\nserver: {insecure: true}\nproviders:")
	providers := c.providers
	if providers == nil {
		providers = usual
	}
	writeLists(&b, providers)
	namespace := w.namespace()
	if w.store != "kv_sqlite" {
		namespace = "${env.LLS_REGISTRY:=" + namespace + "}"
	}
	fmt.Fprintf(&b, "storage:\n  backends:\n    kv_default: %s\n    sql_default: {type: sql_sqlite, db_path: %q}\n  stores:\n", w.backend(), w.dir+"/sql.db")
	fmt.Fprintf(&b, "    metadata: {namespace: %q, backend: kv_default}\n", namespace)
	fmt.Fprintln(&b, "    inference: {table_name: inference_store, backend: sql_default}\n    conversations: {table_name: conversations, backend: sql_default}")
	fmt.Fprintln(&b, "registered_resources:")
	writeLists(&b, c.lists)
	return b.String()
}

func writeLists(b *strings.Builder, lists map[string][]string) {
	if len(lists) == 0 {
		fmt.Fprintln(b, "  {}")
	}
	for _, name := range slices.Sorted(maps.Keys(lists)) {
		fmt.Fprintf(b, "  %s: [%s]\n", name, strings.Join(lists[name], ", "))
	}
}

// declares returns a configuration that declares these models and the model for embeddings.
func declares(models ...string) config {
	return config{lists: map[string][]string{"models": append([]string{embedding}, models...)}}
}

// run runs the program and returns its output. The exit code must be 0. The output must contain only the program's own
// lines, and must not contain a password.
func (w *world) run(t *testing.T, c config, options ...string) string {
	t.Helper()
	output, err := w.start(t.Context(), t.TempDir(), c, options...)
	if err != nil {
		t.Fatalf("the program failed: %v\n%s", err, output)
	}
	for line := range strings.Lines(output) {
		if !strings.HasPrefix(line, "registry: ") {
			t.Errorf("the program printed %q", line)
		}
	}
	for _, secret := range []string{password, url.PathEscape(password), "canary"} {
		if strings.Contains(output, secret) {
			t.Errorf("the output of the program contains a password:\n%s", output)
		}
	}
	return output
}

// start does the same as run, but without the checks. Tests can call it concurrently.
func (w *world) start(ctx context.Context, scratch string, c config, options ...string) (string, error) {
	file := filepath.Join(scratch, "config.yaml")
	if err := os.WriteFile(file, []byte(c.text(w)), 0o600); err != nil {
		return "", err
	}
	cmd := exec.CommandContext(ctx, w.python,
		append([]string{filepath.Join(w.script, names.RegistryProgram), "--config", file}, options...)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH")}
	for _, name := range slices.Sorted(maps.Keys(w.env)) {
		cmd.Env = append(cmd.Env, name+"="+w.env[name])
	}
	var output bytes.Buffer
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &output, &output, time.Minute
	err := cmd.Run()
	return output.String(), err
}

// do performs actions with the server's classes.
func (w *world) do(t *testing.T, c config, things ...[]any) []json.RawMessage {
	t.Helper()
	return w.ask(t, request{Config: c.text(w), Env: w.env, Do: things})
}

// boot uses the release's own code to register the resources of the configuration. It returns the error that prevents
// the server from starting, or an empty string.
func (w *world) boot(t *testing.T, c config) string {
	t.Helper()
	var failure string
	unmarshal(t, w.do(t, c, []any{"start"})[0], &failure)
	return failure
}

// restart runs the program and then boot, as a pod does.
func (w *world) restart(t *testing.T, c config, options ...string) string {
	t.Helper()
	output := w.run(t, c, options...)
	if failure := w.boot(t, c); failure != "" {
		t.Errorf("the server does not start: %s\nthe output of the program is:\n%s", failure, output)
	}
	return output
}

// entry is an entry of the registry, with only the fields that the tests read.
type entry struct {
	Provider string         `json:"provider_id"`
	Own      string         `json:"provider_resource_id"`
	Name     string         `json:"vector_store_name"`
	Metadata map[string]any `json:"metadata"`
}

// entries returns the entries of the registry, read with the server's classes.
func (w *world) entries(t *testing.T, c config) map[string]entry {
	t.Helper()
	var found map[string]entry
	unmarshal(t, w.do(t, c, []any{"list"})[0], &found)
	return found
}

// ids returns the IDs of the registry's entries.
func (w *world) ids(t *testing.T, c config) []string {
	t.Helper()
	return slices.Sorted(maps.Keys(w.entries(t, c)))
}

// declared returns the program's list of declared entries.
func (w *world) declared(t *testing.T, c config) map[string]int {
	t.Helper()
	var text *string
	unmarshal(t, w.do(t, c, []any{"get", "llamastack.io:registry:declared"})[0], &text)
	if text == nil {
		t.Fatal("the list does not exist")
	}
	var list struct {
		Version  int
		Stack    string
		Release  string
		Declared map[string]int
	}
	unmarshal(t, []byte(*text), &list)
	if list.Version != 1 || list.Release != w.rel.Version {
		t.Errorf("list is %s", *text)
	}
	return list.Declared
}

// model returns the ID of a model in the registry. In release 0.7 and earlier, the ID contains the provider's name for
// the model.
func (w *world) model(id, own string) string {
	kind, _ := w.rel.Resource("models")
	return "model:" + kind.Public(id, "vllm", own)
}

// has reports whether a configuration for the release can declare the list.
func (w *world) has(list string) bool {
	kind, ok := w.rel.Resource(list)
	return ok && !kind.Dropped
}

func vectorStore(id string) []any {
	return []any{"register", map[string]any{
		"type": "vector_store", "identifier": id, "provider_id": "faiss", "provider_resource_id": id,
		"embedding_model": "vllm/e", "embedding_dimension": 3,
	}}
}

func registeredModel(id, provider, source string) []any {
	return []any{"register", map[string]any{
		"type": "model", "identifier": provider + "/" + id, "provider_id": provider, "provider_resource_id": id,
		"model_type": "llm", "metadata": map[string]any{}, "source": source,
	}}
}

func unmarshal(t *testing.T, data []byte, into any) {
	t.Helper()
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("read %s: %v", data, err)
	}
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// exists reports whether a file exists.
func exists(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Stat(path)
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		t.Fatal(err)
	}
	return err == nil
}
