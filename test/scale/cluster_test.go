package scale_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	eventsv1 "k8s.io/api/events/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const (
	// workers is the number of concurrent writers of the bare client. It is the same as the number of concurrent
	// reconciles of the operator.
	workers = 4
	version = "scale"
	// inBare, inStacks, inForeign and inModel are namespaces.
	inBare, inStacks, inForeign, inModel = "bare", "stacks", "foreign", "model"
)

// spec is the spec of a plain stack with a configuration, a reference to a Secret, and a PersistentVolumeClaim.
const spec = `
distribution: {name: starter}
providers: {inference: {provider: vllm, endpoint: "http://vllm:8000",
  apiKey: {secretKeyRef: {name: creds, key: token}}}}
resources: {models: [llama]}
workload: {storage: {size: 1Gi}}
`

// exposure is the additional part of a spec that exposes a stack with its own host name.
const exposure = `
networking: {expose: {hostname: %s.example.com}}
`

// cluster is a control plane that logs every call.
type cluster struct {
	*testutil.Cluster

	// program is the path of the operator binary to run. newest is the path of the binary that is built from this work
	// tree.
	program, newest string
	// audit is the path of the log. agent is the prefix of the user agent of the measured operator.
	audit, agent string
}

// startCluster starts a control plane with the namespaces that most benchmarks use, and others.
func startCluster(b *testing.B, others ...string) *cluster {
	b.Helper()
	newest := testutil.BuildOperator(b, version)
	c := &cluster{program: cmp.Or(*before, newest), newest: newest, agent: operatorAgent}
	c.audit = filepath.Join(b.TempDir(), "audit.log")
	c.Cluster = testutil.StartCluster(b, testutil.Options{
		AuditLog: c.audit, APIServerFlags: map[string]string{"service-cluster-ip-range": "10.96.0.0/16"},
		// The range contains enough addresses for two Services of each stack.
	})
	testutil.Must(b, c.Plane.InstallRights())
	for _, name := range append([]string{inBare, inStacks, inForeign, inModel}, others...) {
		c.create(b, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}})
		c.create(b, &corev1.Secret{
			ObjectMeta: metav1.ObjectMeta{Namespace: name, Name: "creds"},
			StringData: map[string]string{"token": "x"},
		})
	}
	if *controllers {
		testutil.RunControllers(b, c.Kubeconfig, []string{"deployment-controller", "replicaset-controller"})
	}
	return c
}

func (c *cluster) create(b *testing.B, object client.Object) {
	b.Helper()
	testutil.Must(b, c.Create(b.Context(), object))
}

// each calls a function for every number from zero to n-1, and ends the benchmark at an error.
func each(b testing.TB, n int, do func(int) error) {
	b.Helper()
	testutil.Must(b, together(n, do))
}

// together calls a function for every number from zero to n-1. The constant `workers` is the number of calls that run
// at the same time.
func together(n int, do func(int) error) error {
	var group errgroup.Group
	group.SetLimit(workers)
	for i := range n {
		group.Go(func() error { return do(i) })
	}
	return group.Wait()
}

// addForeign creates the unrelated objects, half of them ConfigMaps and half of them Secrets, with one kilobyte of data
// each.
func (c *cluster) addForeign(b *testing.B) {
	b.Helper()
	data := strings.Repeat("x", 1024)
	each(b, *foreign, func(i int) error {
		meta := metav1.ObjectMeta{
			Namespace: inForeign, Name: fmt.Sprintf("foreign-%d", i),
			Labels: map[string]string{"app": "foreign"},
		}
		if i%2 == 0 {
			return c.Create(b.Context(), &corev1.ConfigMap{ObjectMeta: meta, Data: map[string]string{"data": data}})
		}
		return c.Create(b.Context(), &corev1.Secret{ObjectMeta: meta, StringData: map[string]string{"data": data}})
	})
}

func (c *cluster) newStack(b *testing.B, namespace, name string) *v1alpha2.LlamaStackDistribution {
	b.Helper()
	stack := &v1alpha2.LlamaStackDistribution{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
	text := spec
	if *exposed {
		text += fmt.Sprintf(exposure, name)
	}
	testutil.Must(b, yaml.UnmarshalStrict([]byte(text), &stack.Spec))
	return stack
}

func stackName(i int) string { return fmt.Sprintf("stack-%05d", i) }

// addStacks creates a stack for each number in a range.
func (c *cluster) addStacks(b *testing.B, from, to int) {
	b.Helper()
	each(b, to-from, func(i int) error { return c.Create(b.Context(), c.newStack(b, inStacks, stackName(from+i))) })
}

// kinds lists the kinds of a stack's children, in the order in which the operator applies them.
var kinds = []struct{ apiVersion, kind string }{
	{"v1", "ConfigMap"},
	{"v1", "ServiceAccount"},
	{"v1", "PersistentVolumeClaim"},
	{"apps/v1", "Deployment"},
	{"v1", "Service"},
	{"networking.k8s.io/v1", "Ingress"},
}

// learn creates one stack and returns the objects that the operator wrote for it, in a form that any client can apply.
func (c *cluster) learn(b *testing.B) []*unstructured.Unstructured {
	b.Helper()
	model := c.newStack(b, inModel, stackName(0))
	c.create(b, model)
	o := c.startOperator(b)
	o.observes(b, 1)
	c.rests(b)
	o.stop(b)
	var learned []*unstructured.Unstructured
	for _, kind := range kinds {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion(kind.apiVersion)
		list.SetKind(kind.kind + "List")
		testutil.Must(b, c.List(b.Context(), list, client.InNamespace(inModel),
			client.MatchingLabels(names.ChildSelector(model.Name))))
		for i := range list.Items {
			learned = append(learned, plain(&list.Items[i]))
		}
	}
	learned = append(learned, c.events(b)...)
	stack := &unstructured.Unstructured{}
	stack.SetGroupVersionKind(v1alpha2.GroupVersion.WithKind("LlamaStackDistribution"))
	testutil.Must(b, c.Get(b.Context(), client.ObjectKeyFromObject(model), stack))
	testutil.Must(b, c.Delete(b.Context(), model))
	return append(learned, plain(stack))
}

// events returns the operator's events for the stack that learn created.
func (c *cluster) events(b *testing.B) []*unstructured.Unstructured {
	b.Helper()
	told := &unstructured.UnstructuredList{}
	told.SetGroupVersionKind(eventsv1.SchemeGroupVersion.WithKind("EventList"))
	testutil.Must(b, c.List(b.Context(), told, client.InNamespace(inModel)))
	var learned []*unstructured.Unstructured
	for i := range told.Items {
		if event := told.Items[i].Object; event["reportingController"] == names.EventReporter {
			event["regarding"].(map[string]any)["namespace"] = inBare //nolint:forcetypeassert // the API server checked it
			learned = append(learned, plain(&told.Items[i]))
		}
	}
	return learned
}

// plain returns an object without the fields that the API server adds.
func plain(live *unstructured.Unstructured) *unstructured.Unstructured {
	object := live.DeepCopy()
	labels, annotations, owners := maps.Clone(object.GetLabels()), object.GetAnnotations(), object.GetOwnerReferences()
	if labels == nil {
		labels = map[string]string{}
	}
	object.Object["metadata"] = map[string]any{}
	object.SetName(live.GetName())
	labels[names.LabelManagedBy] = inBare // with the operator's own value, the operator would cache the copy
	object.SetLabels(labels)
	object.SetAnnotations(annotations)
	object.SetOwnerReferences(owners)
	if object.GetKind() != "LlamaStackDistribution" {
		delete(object.Object, "status")
	}
	for _, field := range []string{"clusterIP", "clusterIPs", "volumeName"} {
		unstructured.RemoveNestedField(object.Object, "spec", field)
	}
	return object
}

// of returns a copy of a learned object, adapted to the given stack.
func of(learned *unstructured.Unstructured, stack *v1alpha2.LlamaStackDistribution) *unstructured.Unstructured {
	object := learned.DeepCopy()
	object.SetNamespace(stack.Namespace)
	object.SetName(strings.Replace(object.GetName(), stackName(0), stack.Name, 1))
	owners := object.GetOwnerReferences()
	for i := range owners {
		owners[i].Name, owners[i].UID = stack.Name, stack.UID
	}
	if len(owners) > 0 {
		object.SetOwnerReferences(owners)
	}
	return object
}

// writeBare makes the same writes as the operator for the stacks whose numbers are in a range: each child by
// server-side apply, the events, and the status of an existing stack. It uses the operator's permissions, and returns
// the duration of the writes.
func (c *cluster) writeBare(b *testing.B, learned []*unstructured.Unstructured, from, to int) time.Duration {
	b.Helper()
	bare := c.bareClient(b)
	stacks := make([]*v1alpha2.LlamaStackDistribution, to-from)
	each(b, to-from, func(i int) error {
		stacks[i] = c.newStack(b, inBare, stackName(from+i))
		return c.Create(b.Context(), stacks[i])
	})
	started := time.Now()
	each(b, to-from, func(i int) error {
		for _, object := range learned {
			if err := writeOne(b, bare, of(object, stacks[i])); err != nil {
				return err
			}
		}
		return nil
	})
	took := time.Since(started)
	for _, gone := range []client.Object{
		&v1alpha2.LlamaStackDistribution{}, &appsv1.Deployment{}, &appsv1.ReplicaSet{}, &corev1.Pod{}, &corev1.ConfigMap{},
	} {
		testutil.Must(b, c.DeleteAllOf(b.Context(), gone, client.InNamespace(inBare)))
	}
	return took
}

// bareClient returns a client with the operator's token.
func (c *cluster) bareClient(b *testing.B) client.Client {
	b.Helper()
	token, err := c.Plane.OperatorToken(b.Context(), nil)
	testutil.Must(b, err)
	config := rest.AnonymousClientConfig(c.Plane.Config)
	config.BearerToken = token
	bare, err := client.New(config, client.Options{Scheme: c.Scheme()})
	testutil.Must(b, err)
	return bare
}

func writeOne(b *testing.B, bare client.Client, object *unstructured.Unstructured) error {
	b.Helper()
	switch object.GetKind() {
	case "Event":
		return bare.Create(b.Context(), object)
	case "LlamaStackDistribution":
		patch, err := json.Marshal(map[string]any{"status": object.Object["status"]})
		if err != nil {
			return err
		}
		return bare.Status().Patch(b.Context(), object, client.RawPatch("application/merge-patch+json", patch))
	}
	return bare.Apply(b.Context(), client.ApplyConfigurationFromUnstructured(object), client.FieldOwner("bare"))
}

// calls returns the operator's calls after a position in the audit log, except lists, watches, and calls for leases.
func (c *cluster) calls(b *testing.B, after int64) []call {
	b.Helper()
	return readCalls(b, c.audit, after, c.agent)
}

// counts returns the number of writes and of reads after a position in the log. It also returns the time from the first
// write to the last write.
func (c *cluster) counts(b *testing.B, after int64) (made, reads int, took time.Duration) {
	b.Helper()
	var first, last time.Time
	for _, one := range c.calls(b, after) {
		if one.Verb == "get" {
			reads++
			continue
		}
		made++
		if first.IsZero() || one.RequestReceivedTimestamp.Before(first) {
			first = one.RequestReceivedTimestamp
		}
		last = one.StageTimestamp
	}
	return made, reads, last.Sub(first)
}

// audited returns the position of the current end of the audit log.
func (c *cluster) audited(b *testing.B) int64 {
	b.Helper()
	info, err := os.Stat(c.audit)
	testutil.Must(b, err)
	return info.Size()
}

// begins waits until the log contains a write by the operator after the position `after`.
func (c *cluster) begins(b *testing.B, after int64) {
	b.Helper()
	eventually(b, poll, "the operator makes a call", func() (bool, error) {
		written, _, _ := c.counts(b, after)
		return written > 0, nil
	})
}

// rests waits until the operator is idle.
func (c *cluster) rests(b *testing.B) {
	b.Helper()
	place, since := c.audited(b), time.Now()
	eventually(b, poll, "the operator is idle", func() (bool, error) {
		if len(c.calls(b, place)) > 0 {
			place, since = c.audited(b), time.Now()
		}
		return time.Since(since) > quiet, nil
	})
}

// readyPods makes the pods of all stacks ready, as kubelets do. There are none without the Deployment controller. The
// addresses of the pods are reserved for documentation, so no server answers there.
func (c *cluster) readyPods(b *testing.B) {
	b.Helper()
	var pods corev1.PodList
	if err := c.List(b.Context(), &pods, client.InNamespace(inStacks)); err != nil {
		b.Fatal(err)
	}
	each(b, len(pods.Items), func(i int) error {
		return c.Status().Patch(b.Context(), &pods.Items[i], client.RawPatch(types.MergePatchType, []byte(
			`{"status":{"phase":"Running","podIP":"192.0.2.1","podIPs":[{"ip":"192.0.2.1"}],`+
				`"conditions":[{"type":"Ready","status":"True"}]}}`)))
	})
}

// atRest measures the calls per minute and the processor time of an idle operator.
func (c *cluster) atRest(b *testing.B, o *operator) (callsAMinute, cpu float64) {
	b.Helper()
	place, used, since := c.audited(b), o.cpu(b), time.Now()
	eventually(b, poll, "the end of the measurement", func() (bool, error) { return time.Since(since) > *idle, nil })
	took := time.Since(since)
	return float64(len(c.calls(b, place))) / took.Minutes(), 100 * (o.cpu(b) - used).Seconds() / took.Seconds()
}
