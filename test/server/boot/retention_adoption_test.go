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
	t.Parallel()
	report := newRetentionReport(t)
	for i, tc := range adoptions {
		if !wholeRetention && !slices.Contains(inGate, i) {
			continue
		}
		// The test data is for these versions, regardless of RELEASES.
		t.Run(tc.version+"/"+tc.store, func(t *testing.T) {
			t.Parallel()
			rel := lineOf(t, tc.version)
			var a *adoption
			planned := newAdoption(t, plannedKeptStack(t, rel, tc.store, adoptionBase(t, rel)))
			var inputs []any
			var steps []namedTest
			for _, step := range adoptionSteps {
				planned.addModels(t, step)
				inputs = append(inputs, planned.stack.inputOf(t, planned.pod(t, step.earlier)))
				steps = append(steps, namedTest{step.name, func(t *testing.T) { a.try(t, step) }})
			}
			outcomes := inSequence(t, []string{rel.Version}, func() {
				a = newAdoption(t, newKeptStack(t, rel, tc.store, adoptionBase(t, rel)))
			}, steps, inputs...)
			for _, step := range steps {
				report.add(tc.version, tc.store, step.name, outcomes[step.name])
			}
			if a != nil {
				report.addTimes(tc.version, tc.store, a.stack.times)
			}
		})
	}
}

// adoption is a stack with the data that its clients created while an operator from an earlier commit managed the
// stack.
type adoption struct {
	*retention
	made map[string]string // the text in each vector store, keyed by the ID of the store
}

// adoptionStep is a start of the stack.
type adoptionStep struct {
	name string
	// adds is a model that is added before the start.
	adds string
	// earlier is the number of the earlier operator's configuration. It is 0 for the current rendering.
	earlier int
}

var adoptionSteps = []adoptionStep{
	{name: "first resources", earlier: 1},
	{name: "second resources", adds: "added", earlier: 2},
	{name: "adopted"},
	{name: "resources changed", adds: "another"},
}

func adoptionBase(t *testing.T, rel *release.Release) []byte {
	t.Helper()
	return retentionBase(t, rel, []string{"faiss"})
}

func newAdoption(t *testing.T, stack *keptStack) *adoption {
	t.Helper()
	return &adoption{retention: &retention{stack: stack}, made: map[string]string{}}
}

// try changes the stack and starts it.
func (a *adoption) try(t *testing.T, step adoptionStep) {
	a.addModels(t, step)
	if step.earlier > 0 {
		a.earlier(t, step.earlier)
	} else {
		a.today(t)
	}
}

// addModels adds the model of a step. The last step also changes the model that an earlier step added.
func (a *adoption) addModels(t *testing.T, step adoptionStep) {
	t.Helper()
	if step.adds == "" {
		return
	}
	a.model(t, "added", fields{"contextLength": 4096})
	a.models(t, func(models []any) []any { return append(models, fields{"name": step.adds, "provider": "vllm"}) })
}

// pod returns the pod for the current spec. It contains a configuration of the earlier operator if number is not 0.
func (a *adoption) pod(t *testing.T, number int) pod {
	t.Helper()
	p := a.stack.render(t)
	if number == 0 {
		return p
	}
	p.wrapper = nil
	config := a.rendered(t, number)
	writeFile(t, p.config, config)
	// In a cluster, the operator reads the configuration of the running stack, and therefore continues to use the same
	// table in PostgreSQL.
	a.stack.running = &plan.Running{
		Stack: a.stack.stack.Name, Distribution: resolve(t, a.stack.rel, a.stack.stack.Spec.Distribution.Name),
		Pod: &corev1.PodSpec{}, Config: []byte(config),
	}
	return p
}

// earlier starts the server with a configuration of the earlier operator, and creates a vector store as a client does.
func (a *adoption) earlier(t *testing.T, number int) {
	t.Helper()
	text := fmt.Sprintf("The vector store of the registry number %d.", number)
	_, err := a.stack.serve(t, a.pod(t, number), func(server *llamaStack) error {
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
