//go:build !race

// This test is left out of builds with the race detector, which finds nothing here: one goroutine reconciles, step
// after step, and it does so a hundred times.

package controller_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// knife disconnects an operator from the API server after its n-th write.
type knife struct {
	next http.RoundTripper
	// loseAnswer lets the n-th write succeed and drops its response.
	loseAnswer bool

	mu     sync.Mutex
	left   int
	closed bool
	cut    chan struct{}
}

var errCut = errors.New("cut off")

func (k *knife) RoundTrip(request *http.Request) (*http.Response, error) {
	lost, refused := k.account(request)
	if refused {
		return nil, errCut
	}
	response, err := k.next.RoundTrip(request)
	if lost && err == nil {
		_ = response.Body.Close()
		return nil, errCut
	}
	return response, err
}

// account reports whether the response of the request is lost, and whether the request is refused.
func (k *knife) account(request *http.Request) (lost, refused bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	write := request.Method != http.MethodGet && !strings.Contains(request.URL.Path, "/events") &&
		!strings.Contains(request.URL.Path, names.OperatorNamespace)
	if !write {
		return false, k.closed
	}
	if k.closed || k.left == 0 {
		k.close()
		return false, true
	}
	k.left--
	if k.left == 0 && k.loseAnswer {
		k.close()
		return true, false
	}
	return false, false
}

func (k *knife) close() {
	if !k.closed {
		k.closed = true
		close(k.cut)
	}
}

// startCut starts an operator that is disconnected after n writes, and waits until that happens or until done reports
// that no more writes were needed.
func (b *bench) startCut(t *testing.T, n int, loseAnswer bool, done func() error) (wasCut bool) {
	t.Helper()
	k := &knife{left: n, loseAnswer: loseAnswer, cut: make(chan struct{})}
	o := b.direct(t, "cut", func(next http.RoundTripper) http.RoundTripper {
		k.next = next
		return k
	})
	eventually(t, func() error {
		select {
		case <-k.cut:
			wasCut = true
			return nil
		default:
			return done()
		}
	})
	o.stop(t)
	return wasCut
}

// generationUID matches the UID of the stack in the annotation of a pod template.
var generationUID = regexp.MustCompile(`"llamastack\.io/generation":"[^/]*/`)

// referencesDigest matches the digest of inputs and Secrets in that annotation, which uses a different key in each
// namespace.
var referencesDigest = regexp.MustCompile(`("llamastack\.io/inputs":")[0-9a-f]+\.[0-9a-f]+`)

// storageHash matches the name of the Secret with derived values, which uses that key too.
var storageHash = regexp.MustCompile(`my-storage-[0-9a-f]{8}`)

// outcome returns everything that was made for a stack, without the parts that differ between runs.
func (b *bench) outcome(t *testing.T) map[string]any {
	t.Helper()
	result := map[string]any{}
	for _, list := range []client.ObjectList{
		&appsv1.DeploymentList{}, &corev1.ServiceList{}, &corev1.ServiceAccountList{}, &corev1.ConfigMapList{},
		&corev1.PersistentVolumeClaimList{}, &corev1.SecretList{}, &v1alpha2.LlamaStackDistributionList{},
	} {
		if err := b.List(t.Context(), list, client.InNamespace(b.namespace)); err != nil {
			t.Fatal(err)
		}
		err := meta.EachListItem(list, func(item runtime.Object) error {
			object, ok := item.(client.Object)
			if !ok {
				return fmt.Errorf("%T is not an object", item)
			}
			content, err := json.Marshal(normalize(object))
			if err != nil {
				return err
			}
			text := strings.ReplaceAll(string(content), b.namespace, "NS")
			text = generationUID.ReplaceAllString(text, `"llamastack.io/generation":"UID/`)
			text = storageHash.ReplaceAllString(text, "my-storage-HASH")
			text = referencesDigest.ReplaceAllString(text, "${1}DIGEST")
			var fields any
			result[fmt.Sprintf("%T %s", item, storageHash.ReplaceAllString(object.GetName(), "my-storage-HASH"))] = &fields
			return json.Unmarshal([]byte(text), &fields)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return result
}

func normalize(object client.Object) client.Object {
	object.SetUID("")
	object.SetResourceVersion("")
	object.SetGeneration(0)
	object.SetCreationTimestamp(emptyTime)
	object.SetManagedFields(nil)
	references := object.GetOwnerReferences()
	for i := range references {
		references[i].UID = ""
	}
	object.SetOwnerReferences(references)
	switch object := object.(type) {
	case *corev1.Service:
		object.Spec.ClusterIP, object.Spec.ClusterIPs = "", nil
	case *appsv1.Deployment:
		// The record contains the object's UID.
		delete(object.Annotations, names.AnnotationRendered)
	case *v1alpha2.LlamaStackDistribution:
		for i := range object.Status.Conditions {
			object.Status.Conditions[i].LastTransitionTime = emptyTime
		}
		object.Status.Version = nil
		if generation := object.Status.ConfigGeneration; generation != nil {
			generation.GeneratedAt = nil
		}
	}
	return object
}

// TestCutOffAfterEveryWrite checks that an operator may be disconnected after any of its writes, with or without the
// response: the next operator brings the stack to the same state, and then makes no more writes.
func TestCutOffAfterEveryWrite(t *testing.T) {
	const updated = `
distribution: {name: starter}
providers:
  inference: {provider: vllm, endpoint: "http://other:8000", apiKey: {secretKeyRef: {name: vllm-creds, key: token}}}
storage: {sql: {type: postgres, connectionString: {secretKeyRef: {name: postgres-creds, key: uri}}}}
workload: {replicas: 2, storage: {size: 1Gi}, overrides: {serviceAccountName: default}}
`
	prepare := func(t *testing.T) *bench {
		t.Helper()
		b := newBench(t)
		b.create(t, secret("vllm-creds", "token", "sk-abc"),
			secret("postgres-creds", "uri", "postgresql://u:p%40ss@postgres:5432/db"))
		return b
	}
	create := func(t *testing.T, b *bench) {
		t.Helper()
		b.create(t, b.stack(t, "my", fullSpec))
	}
	update := func(t *testing.T, b *bench) {
		t.Helper()
		stack := &v1alpha2.LlamaStackDistribution{}
		b.get(t, "my", stack)
		stack.Spec = b.stack(t, "my", updated).Spec
		if err := b.Update(t.Context(), stack); err != nil {
			t.Fatal(err)
		}
	}
	for _, change := range []string{"create", "update"} {
		run := func(t *testing.T, want map[string]any, cut func(b *bench) bool) (map[string]any, bool) {
			t.Helper()
			b := prepare(t)
			if change == "create" {
				create(t, b)
			} else {
				first := b.direct(t, "before")
				create(t, b)
				b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
				first.stop(t)
				update(t, b)
			}
			wasCut := cut(b)
			b.direct(t, "after")
			b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
			if want == nil {
				b.settled(t, "after")
				return b.outcome(t), wasCut
			}
			eventually(t, func() error {
				if diff := cmp.Diff(want, b.outcome(t)); diff != "" {
					return fmt.Errorf("another outcome (-want +got):\n%s", diff)
				}
				return nil
			})
			return want, wasCut
		}
		want, _ := run(t, nil, func(*bench) bool { return false })
		for _, loseAnswer := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, answer lost %v", change, loseAnswer), func(t *testing.T) {
				for n := 0; ; n++ {
					_, wasCut := run(t, want, func(b *bench) bool {
						return b.startCut(t, n, loseAnswer && n > 0, func() error { return b.observed(t, "my") })
					})
					if !wasCut {
						t.Logf("converges when cut off after any of %d writes", n)
						if n < 5 {
							t.Errorf("only %d writes: the test does not see them", n)
						}
						return
					}
				}
			})
		}
	}
}

// observed returns an error unless the status is of the object's current generation.
func (b *bench) observed(t *testing.T, name string) error {
	t.Helper()
	stack := &v1alpha2.LlamaStackDistribution{}
	b.get(t, name, stack)
	if stack.Status.ObservedGeneration != stack.Generation {
		return fmt.Errorf("generation %d, observed %d", stack.Generation, stack.Status.ObservedGeneration)
	}
	return nil
}

// TestPreflightCutOffAfterEveryWrite checks that an operator may be disconnected after any of its writes: the next
// operator continues with the same pod, and never creates a second one.
func TestPreflightCutOffAfterEveryWrite(t *testing.T) {
	t.Parallel()
	for _, loseAnswer := range []bool{false, true} {
		for n := 0; ; n++ {
			b := newBench(t)
			first := b.serving(t, filed)
			first.stop(t)
			b.removes(t)
			before := &appsv1.Deployment{}
			b.get(t, "my", before)
			b.respec(t, "my", changed)
			wasCut := b.startCut(t, n, loseAnswer && n > 0, func() error { return b.observed(t, "my") })
			made := b.tries(t)
			b.direct(t, b.namespace+"-after")
			pod := b.try(t, nil)
			if len(made) > 1 || len(made) == 1 && made[0].UID != pod.UID {
				t.Errorf("cut off after write %d: another pod was made", n)
			}
			b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonPreflightInProgress)
			b.untouched(t, before)
			b.place(t, pod)
			b.kubelet(t, pod, isReady())
			b.replaced(t, before)
			b.noTry(t)
			if !wasCut {
				if n < 3 {
					t.Errorf("only %d writes: the test does not see them", n)
				}
				break
			}
		}
	}
}
