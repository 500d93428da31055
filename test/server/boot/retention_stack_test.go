//go:build server

package boot

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// These are the types of stores for the state of a stack, as values of spec.storage.kv.type.
const (
	onSQLite   = "sqlite"
	onRedis    = "redis"
	onPostgres = "postgres"
)

// keptStack is a stack whose spec changes while its state is preserved.
type keptStack struct {
	sample
	rel   *release.Release
	store string
	base  []byte
	root  string
	on    place
	env   []string // additional environment variables of the pod on this machine
	// client sends the requests to the server. Nil means http.DefaultClient.
	client *http.Client
}

// newKeptStack returns a stack with an empty state in a store of the given type. It starts the servers of the stack.
func newKeptStack(t *testing.T, rel *release.Release, store string, base []byte) *keptStack {
	t.Helper()
	stores := sample{secrets: storeSecrets[store]}
	return keptStackOn(t, rel, store, base, stores.startPlace(t, rel))
}

// plannedKeptStack returns the same stack on a planned place.
func plannedKeptStack(t *testing.T, rel *release.Release, store string, base []byte) *keptStack {
	t.Helper()
	stores := sample{secrets: storeSecrets[store]}
	return keptStackOn(t, rel, store, base, stores.planned())
}

// storeSecrets contains the Secrets of a store.
var storeSecrets = map[string]secrets{onRedis: {"redis-creds": nil}, onPostgres: {"pg-creds": nil}}

func keptStackOn(t *testing.T, rel *release.Release, store string, base []byte, on place) *keptStack {
	t.Helper()
	k := &keptStack{
		sample: readSample(t, "testdata/retention/stack.yaml"), rel: rel, store: store, base: base, root: t.TempDir(),
		on: on,
	}
	storage := map[string]any{"kv": map[string]any{"type": onSQLite}}
	switch store {
	case onRedis:
		storage["kv"] = map[string]any{
			"type": onRedis, "endpoint": k.on.redis.address,
			"password": secretKey("redis-creds", "password"),
		}
	case onPostgres:
		connection := map[string]any{"type": onPostgres, "connectionString": secretKey("pg-creds", "url")}
		storage = map[string]any{"kv": connection, "sql": connection}
	}
	k.secrets["redis-creds"], k.secrets["pg-creds"] = nil, nil
	if k.on.redis != nil {
		k.secrets["redis-creds"] = map[string]string{"password": k.on.redis.password}
	}
	if k.on.db != nil {
		k.secrets["pg-creds"] = map[string]string{"url": k.on.db.connectionString()}
	}
	k.change(t, func(spec map[string]any) {
		withoutAPIs(rel, spec)
		fitProviders(t, spec, k.on)
		mapping(spec, "distribution")["version"] = rel.Version
		spec["storage"] = storage
	})
	return k
}

func secretKey(name, key string) map[string]any {
	return map[string]any{"secretKeyRef": map[string]any{"name": name, "key": key}}
}

// change edits the spec as a user does, so the object has a new generation.
func (k *keptStack) change(t *testing.T, edit func(spec map[string]any)) {
	t.Helper()
	k.edit(t, edit)
	k.stack.Generation++
}

// render returns the pod for the current spec.
func (k *keptStack) render(t *testing.T) pod {
	t.Helper()
	p := generateOn(t, k.rel, k.sample, k.baseOf(), k.root)
	if p.wrapper == nil {
		t.Fatal("the pod does not update the registry")
	}
	return p
}

func (k *keptStack) baseOf() *plan.Base {
	return &plan.Base{Data: k.base, Source: v1alpha2.ConfigSourceConfigMap}
}

// planned returns the input of a server for the current spec of a stack on a planned place.
func (k *keptStack) planned(t *testing.T) input {
	t.Helper()
	return k.inputOf(t, k.render(t))
}

// run starts the programs of a pod, and logs the output of the program that updates the registry.
func (k *keptStack) run(t *testing.T, p pod) (*llamaStack, error) {
	t.Helper()
	server, err := startServer(t, boot{
		release: k.rel, config: p.config, env: slices.Concat(p.env, k.env), home: p.home(t), wrapper: p.wrapper,
		client: cmp.Or(k.client, http.DefaultClient), scheme: "http", secrets: k.secrets.values(),
	})
	log := ""
	if server != nil {
		log = server.process.log.text()
	} else if failed, ok := errors.AsType[*bootError](err); ok {
		log = failed.log
	}
	acts := scriptAct.FindAllString(log, -1)
	for _, act := range acts {
		t.Log(act)
	}
	inLine := func(act string) bool { return strings.HasPrefix(act, "registry: in line: ") }
	if p.wrapper != nil && !slices.ContainsFunc(acts, inLine) {
		t.Error("the registry was not updated")
	}
	return server, err
}

// maxHung is the maximum number of times that a server is started if it hangs.
const maxHung = 3

// serve starts the programs of a pod and uses the server. If the server hangs (see answerTimeout), serve starts it
// again.
func (k *keptStack) serve(t *testing.T, p pod, use func(server *llamaStack) error) (*llamaStack, error) {
	t.Helper()
	for starts := 1; ; starts++ {
		server, err := k.run(t, p)
		if err != nil {
			return nil, err
		}
		err = use(server)
		if starts == maxHung || !errors.Is(err, context.DeadlineExceeded) {
			return server, err
		}
		t.Logf("the server hangs and is started again: %v", err)
		server.stop()
	}
}

// start renders the stack, starts the pod's programs with the current state, and uses the server.
func (k *keptStack) start(t *testing.T, use func(server *llamaStack) error) {
	t.Helper()
	if _, err := k.serve(t, k.render(t), use); err != nil {
		t.Error(err)
	}
}

// scriptAct matches what the program that updates the registry prints.
var scriptAct = regexp.MustCompile(`(?m)^registry: .*$`)

// public returns the ID under which clients use a model of the provider vllm.
func (k *keptStack) public(name, upstream string) string {
	m := model{provider: "vllm", name: name, upstream: upstream}
	return m.public(k.rel)
}
