//go:build server

package boot

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
)

// adoptions lists the releases and stores of testdata/retention/adoption.
var adoptions = []struct{ version, store string }{
	{"0.5.4", onSQLite},
	{"0.7.3", onSQLite},
	{"0.7.3", onRedis},
	{"1.5.0", onSQLite},
	{"1.5.0", onRedis},
	{"1.5.0", onPostgres},
}

// inGate lists the indexes of the cases that run without the build tag retention, to limit the duration of the tests.
// In one case, each registry has its own file. In the other case, each registry has its own namespace.
var inGate = []int{1, 3}

// TestRetentionAdoption starts a stack as an operator from an earlier commit rendered it. That operator used a separate
// registry for each set of declared resources. A client creates a vector store in each of two registries. With the
// current rendering, the server must serve both vector stores, even after the declared resources change.
func TestRetentionAdoption(t *testing.T) {
	report := newRetentionReport(t)
	for i, tc := range adoptions {
		if !wholeRetention && !slices.Contains(inGate, i) {
			continue
		}
		// The test data is for these versions, regardless of RELEASES.
		t.Run(tc.version+"/"+tc.store, func(t *testing.T) {
			t.Parallel()
			a := newAdoption(t, lineOf(t, tc.version), tc.store)
			for _, step := range a.steps() {
				outcome := passed
				if !t.Run(step.name, step.run) {
					outcome = failed
				}
				report.add(tc.version, tc.store, step.name, outcome)
			}
			report.addTimes(tc.version, tc.store, a.stack.times)
		})
	}
}

// adoption is a stack with the data that its clients created while an operator from an earlier commit managed the
// stack.
type adoption struct {
	*retention
	made map[string]string // the text in each vector store, keyed by the ID of the store
}

type namedTest struct {
	name string
	run  func(t *testing.T)
}

func newAdoption(t *testing.T, rel *release.Release, store string) *adoption {
	t.Helper()
	r := &retention{stack: newKeptStack(t, rel, store, retentionBase(t, rel, []string{"faiss"}))}
	return &adoption{retention: r, made: map[string]string{}}
}

func (a *adoption) steps() []namedTest {
	add := func(t *testing.T, name string) {
		t.Helper()
		a.models(t, func(models []any) []any { return append(models, fields{"name": name, "provider": "vllm"}) })
	}
	return []namedTest{
		{"first resources", func(t *testing.T) { a.earlier(t, 1) }},
		{"second resources", func(t *testing.T) {
			add(t, "added")
			a.earlier(t, 2)
		}},
		{"adopted", a.today},
		{"resources changed", func(t *testing.T) {
			a.model(t, "added", fields{"contextLength": 4096})
			add(t, "another")
			a.today(t)
		}},
	}
}

// earlier starts the server with a configuration of the earlier operator, and creates a vector store as a client does.
func (a *adoption) earlier(t *testing.T, number int) {
	p := a.stack.render(t)
	p.wrapper = nil
	config := a.rendered(t, number)
	writeFile(t, p.config, config)
	// In a cluster, the operator reads the configuration of the running stack, and therefore continues to use the same
	// table in PostgreSQL.
	a.stack.running = &plan.Running{
		Stack: a.stack.stack.Name, Distribution: resolve(t, a.stack.rel, a.stack.stack.Spec.Distribution.Name),
		Pod: &corev1.PodSpec{}, Config: []byte(config),
	}
	text := fmt.Sprintf("The vector store of the registry number %d.", number)
	_, err := a.stack.serve(t, p, func(server *llamaStack) error {
		id, err := server.vectorStoreWithFile(t.Context(), fmt.Sprintf("store %d", number), "faiss", a.public("embed", ""),
			text)
		if err == nil {
			a.made[id] = text
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// rendered returns a configuration of the earlier operator, with addresses on this machine.
func (a *adoption) rendered(t *testing.T, number int) string {
	t.Helper()
	file := fmt.Sprintf("testdata/retention/adoption/%s-%s-%d.yaml", a.stack.rel.Version, a.stack.store, number)
	text, err := os.ReadFile(filepath.FromSlash(file))
	if err != nil {
		t.Fatal(err)
	}
	models := strings.TrimPrefix(a.stack.on.models.url, "http://")
	places := []string{"vllm:8000", models, "second:8000", models}
	if a.stack.on.redis != nil {
		host, port, err := net.SplitHostPort(a.stack.on.redis.address)
		if err != nil {
			t.Fatal(err)
		}
		places = append(places, "@redis", "@"+host, "port: 6379", "port: "+port)
	}
	return strings.NewReplacer(places...).Replace(string(text))
}

// today starts the server with the current rendering, searches every vector store, and checks the list of models.
func (a *adoption) today(t *testing.T) {
	if len(a.made) != 2 {
		t.Errorf("%d vector stores were created, want 2", len(a.made))
	}
	a.stack.start(t, func(server *llamaStack) error {
		var lost error
		for id, text := range a.made {
			lost = errors.Join(lost, server.wantEntry(t.Context(), vectorStoresPath, id, ""),
				server.search(t.Context(), id, text))
		}
		for _, name := range []string{"embed", "plain", "added"} {
			lost = errors.Join(lost, server.wantModel(t.Context(), a.public(name, ""), ""))
		}
		return lost
	})
}
