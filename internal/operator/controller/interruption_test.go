//go:build !race

// Builds with the race detector omit these tests, because only one goroutine reconciles, and the tests repeat the same
// steps about a hundred times.

package controller_test

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
)

// disconnector disconnects an operator from the API server after its n-th write.
type disconnector struct {
	next http.RoundTripper
	// loseAnswer lets the n-th write succeed and drops its response.
	loseAnswer bool

	mu     sync.Mutex
	left   int
	closed bool
	cut    chan struct{}
}

// errDisconnected is the error for all requests after the disconnection.
var errDisconnected = errors.New("disconnected")

// RoundTrip sends the request, or fails if the operator is disconnected.
func (k *disconnector) RoundTrip(request *http.Request) (*http.Response, error) {
	lost, refused := k.countWrite(request)
	if refused {
		return nil, errDisconnected
	}
	response, err := k.next.RoundTrip(request)
	if lost && err == nil {
		_ = response.Body.Close()
		return nil, errDisconnected
	}
	return response, err
}

// countWrite counts a write. It reports whether the response to the request must be dropped, and whether the request
// must be refused.
func (k *disconnector) countWrite(request *http.Request) (lost, refused bool) {
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

// close disconnects the operator.
func (k *disconnector) close() {
	if !k.closed {
		k.closed = true
		close(k.cut)
	}
}

// reconcileUntilDisconnected starts an operator that is disconnected after n writes, and waits until that happens or
// until `done` reports that no more writes were needed.
func reconcileUntilDisconnected(
	t *testing.T, env *controllertest.Environment, n int, loseAnswer bool, done func() error,
) (wasCut bool) {
	t.Helper()
	k := &disconnector{left: n, loseAnswer: loseAnswer, cut: make(chan struct{})}
	o := env.StartReconciler(t, "cut", func(next http.RoundTripper) http.RoundTripper {
		k.next = next
		return k
	})
	controllertest.WaitUntil(t, func() error {
		select {
		case <-k.cut:
			wasCut = true
			return nil
		default:
			return done()
		}
	})
	o.Stop(t)
	return wasCut
}

// generationUID matches the UID of the stack in the annotation of a pod template.
var generationUID = regexp.MustCompile(`"llamastack\.io/generation":"[^/]*/`)

// referencesDigest matches the digest of inputs and Secrets in another annotation of a pod template. The digest uses a
// different key in each namespace.
var referencesDigest = regexp.MustCompile(`("llamastack\.io/inputs":")[0-9a-f]+\.[0-9a-f]+`)

// storageHash matches the name of the Secret with derived values. The name contains a hash that uses a different key in
// each namespace.
var storageHash = regexp.MustCompile(`my-storage-[0-9a-f]{8}`)

// listResults returns the objects of a stack, without the parts that differ between runs.
func listResults(t *testing.T, env *controllertest.Environment) map[string]any {
	t.Helper()
	result := map[string]any{}
	for _, list := range []client.ObjectList{
		&appsv1.DeploymentList{}, &corev1.ServiceList{}, &corev1.ServiceAccountList{}, &corev1.ConfigMapList{},
		&corev1.PersistentVolumeClaimList{}, &corev1.SecretList{}, &v1alpha2.LlamaStackDistributionList{},
	} {
		if err := env.Client.List(t.Context(), list, client.InNamespace(env.Namespace)); err != nil {
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
			text := strings.ReplaceAll(string(content), env.Namespace, "NS")
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

// normalize removes the parts of an object that differ between runs.
func normalize(object client.Object) client.Object {
	object.SetUID("")
	object.SetResourceVersion("")
	object.SetGeneration(0)
	object.SetCreationTimestamp(metav1.Time{})
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
			object.Status.Conditions[i].LastTransitionTime = metav1.Time{}
		}
		object.Status.Version = nil
		if generation := object.Status.ConfigGeneration; generation != nil {
			generation.GeneratedAt = nil
		}
	}
	return object
}

var all = flag.Bool("all", false, "disconnect the operator after every write (make test-faults), and not only after some of them")

// disconnections calls a function with the numbers of the writes after which the operator is disconnected: without the
// flag -all, these are the given ones. The function reports whether the operator made that many writes.
func disconnections(t *testing.T, some []int, disconnect func(n int) (wasCut bool)) {
	t.Helper()
	if !*all {
		for _, n := range some {
			if !disconnect(n) {
				t.Errorf("the operator makes fewer than %d writes, so the test disconnects nothing", n)
			}
		}
		return
	}
	n := 0
	for disconnect(n) {
		n++
	}
	t.Logf("the result is the same after a disconnection after any of %d writes", n)
	if n < slices.Max(some) {
		t.Errorf("the test counts only %d writes", n)
	}
}

// TestDisconnectAfterWrites checks that an operator can be disconnected after any of its writes, whether or not it
// receives the response: the next operator brings the stack to the same state.
func TestDisconnectAfterWrites(t *testing.T) {
	const updated = `
distribution: {name: starter}
providers:
  inference: {provider: vllm, endpoint: "http://other:8000", apiKey: {secretKeyRef: {name: vllm-creds, key: token}}}
storage: {sql: {type: postgres, connectionString: {secretKeyRef: {name: postgres-creds, key: uri}}}}
workload: {replicas: 2, storage: {size: 1Gi}, overrides: {serviceAccountName: default}}
`
	prepare := func(t *testing.T) *controllertest.Environment {
		t.Helper()
		env := controllertest.NewEnvironment(t)
		env.Create(t, controllertest.NewSecret("vllm-creds", "token", "sk-abc"),
			controllertest.NewSecret("postgres-creds", "uri", "postgresql://u:p%40ss@postgres:5432/db"))
		return env
	}
	create := func(t *testing.T, env *controllertest.Environment) {
		t.Helper()
		env.Create(t, env.NewStack(t, "my", controllertest.SecretSpec))
	}
	update := func(t *testing.T, env *controllertest.Environment) {
		t.Helper()
		stack := env.GetStack(t)
		stack.Spec = env.NewStack(t, "my", updated).Spec
		env.Update(t, stack)
	}
	some := map[bool][]int{false: {3}, true: {2, 4}}
	for _, change := range []string{"create", "update"} {
		run := func(t *testing.T, want map[string]any, cut func(env *controllertest.Environment) bool) (map[string]any,
			bool,
		) {
			t.Helper()
			env := prepare(t)
			if change == "create" {
				create(t, env)
			} else {
				first := env.StartReconciler(t, "before")
				create(t, env)
				env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
				first.Stop(t)
				update(t, env)
			}
			wasCut := cut(env)
			env.StartReconciler(t, "after")
			env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
			if want == nil {
				env.WaitUntilIdle(t, "after")
				return listResults(t, env), wasCut
			}
			controllertest.WaitUntil(t, func() error {
				if diff := cmp.Diff(want, listResults(t, env)); diff != "" {
					return fmt.Errorf("different result (-want +got):\n%s", diff)
				}
				return nil
			})
			return want, wasCut
		}
		want, _ := run(t, nil, func(*controllertest.Environment) bool { return false })
		for _, loseAnswer := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, response dropped: %t", change, loseAnswer), func(t *testing.T) {
				disconnections(t, some[loseAnswer], func(n int) bool {
					_, wasCut := run(t, want, func(env *controllertest.Environment) bool {
						return reconcileUntilDisconnected(t, env, n, loseAnswer && n > 0,
							func() error { return checkObserved(t, env, "my") })
					})
					return wasCut
				})
			})
		}
	}
}

// checkObserved returns an error unless the status describes the current generation of the stack.
func checkObserved(t *testing.T, env *controllertest.Environment, name string) error {
	t.Helper()
	stack := &v1alpha2.LlamaStackDistribution{}
	env.Get(t, name, stack)
	if stack.Status.ObservedGeneration != stack.Generation {
		return fmt.Errorf("generation %d, observed %d", stack.Generation, stack.Status.ObservedGeneration)
	}
	return nil
}

// TestPreflightDisconnectAfterWrites checks that an operator can be disconnected after any of its writes: the next
// operator continues with the same pod, and never creates a second one.
func TestPreflightDisconnectAfterWrites(t *testing.T) {
	t.Parallel()
	some := map[bool][]int{false: {3}, true: {4}} // before and after the write that creates the pod
	created := false
	for _, loseAnswer := range []bool{false, true} {
		disconnections(t, some[loseAnswer], func(n int) bool {
			env := controllertest.NewEnvironment(t)
			first := env.StartWithReadyStack(t, controllertest.VolumeSpec)
			first.Stop(t)
			env.TerminateDeletedPods(t)
			before := env.GetDeployment(t)
			env.UpdateSpec(t, "my", controllertest.ChangedVolumeSpec)
			wasCut := reconcileUntilDisconnected(t, env, n, loseAnswer && n > 0,
				func() error { return checkObserved(t, env, "my") })
			made := env.ListPreflightPods(t)
			created = created || len(made) == 1
			env.StartReconciler(t, env.Namespace+"-after")
			pod := env.WaitForPreflightPod(t, nil)
			if len(made) > 1 || len(made) == 1 && made[0].UID != pod.UID {
				t.Errorf("disconnected after write %d: another pod was created", n)
			}
			env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonPreflightInProgress)
			env.CheckDeploymentUnchanged(t, before)
			env.AssignToNode(t, pod)
			env.SetPodStatus(t, pod, controllertest.ContainersReadyStatus())
			env.WaitForDeploymentUpdate(t, before)
			env.WaitForNoPreflight(t)
			return wasCut
		})
	}
	if !created {
		t.Error("no operator was disconnected after it had created a pod")
	}
}
