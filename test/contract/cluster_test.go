package contract

import (
	"fmt"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/process"
)

// trial is a manifest whose objects are in a separate namespace.
type trial struct {
	name, namespace string
	stacks          []*unstructured.Unstructured
	// configMaps contains the ConfigMaps of the manifest.
	configMaps []*unstructured.Unstructured
	// before contains the stacks, keyed by name, in the form in which the API server stores them with the previous
	// operator's CustomResourceDefinition. refused is the error with which the API server then rejected a stack, or
	// nil.
	before  map[string]*unstructured.Unstructured
	refused error
}

// readTrial reads a manifest, and moves its objects to the namespace of the trial.
func readTrial(t *testing.T, name, file string) *trial {
	t.Helper()
	objects, err := testutil.ReadObjects(file)
	testutil.Must(t, err)
	found := &trial{
		name: name, namespace: strings.ReplaceAll(name, "/", "-"),
		before: map[string]*unstructured.Unstructured{},
	}
	for _, object := range objects {
		object.SetNamespace(found.namespace)
		switch object.GetKind() {
		case v1alpha2.Kind:
			found.stacks = append(found.stacks, object)
		case "ConfigMap":
			found.configMaps = append(found.configMaps, object)
		case "Namespace":
		default:
			t.Fatalf("%s: no test creates a %s", file, object.GetKind())
		}
	}
	return found
}

// live is a cluster in which the method `upgrade` installs this operator. TestOnARealAPIServer first installs the
// previous operator's CustomResourceDefinition.
type live struct{ *process.Cluster }

// prepare creates the namespace of a trial, and the manifest's objects other than the stacks.
func (c live) prepare(t *testing.T, one *trial) {
	t.Helper()
	c.create(t, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: one.namespace}})
	for _, object := range one.configMaps {
		c.create(t, object.DeepCopy())
	}
}

func (c live) create(t *testing.T, object client.Object) {
	t.Helper()
	testutil.Must(t, c.Create(t.Context(), object))
}

// askBefore records the result of a trial with the previous operator's CustomResourceDefinition. It creates the stacks
// as a dry run.
func (c live) askBefore(t *testing.T, one *trial) {
	t.Helper()
	for _, stack := range one.stacks {
		answer := stack.DeepCopy()
		if err := c.Create(t.Context(), answer, client.DryRunAll); err != nil {
			one.refused = err
		}
		one.before[stack.GetName()] = answer
	}
}

// upgrade installs this operator, and waits until its webhooks respond.
func (c live) upgrade(t *testing.T) {
	t.Helper()
	c.Install(t)
	o := c.StartOperator(t)
	testutil.Within(t, process.Patience, o.Ready)
	c.Publish(t, o)
	unknown := &unstructured.Unstructured{}
	unknown.SetAPIVersion(v1alpha1.GroupVersion.String())
	unknown.SetKind(v1alpha2.Kind)
	unknown.SetNamespace(metav1.NamespaceDefault)
	unknown.SetName("unknown")
	unknown.Object["spec"] = map[string]any{"server": map[string]any{"distribution": map[string]any{"name": "unheard-of"}}}
	testutil.Within(t, process.Patience, func() error {
		err := c.Create(t.Context(), unknown.DeepCopy(), client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), `unknown distribution "unheard-of"`) {
			return fmt.Errorf("an unknown distribution is not rejected: %w", err)
		}
		return nil
	})
}

// configure creates or updates the operator's ConfigMap for the manifests in a folder.
func (c live) configure(t *testing.T, folder string) {
	t.Helper()
	data := golden.Read(t, "testdata/operator-"+folder+".yaml")
	wanted := &corev1.ConfigMap{}
	testutil.Must(t, yaml.UnmarshalStrict(data, wanted))
	now := &corev1.ConfigMap{}
	err := c.Get(t.Context(), client.ObjectKey{Namespace: names.OperatorNamespace, Name: wanted.Name}, now)
	if apierrors.IsNotFound(err) {
		wanted.Namespace = names.OperatorNamespace
		c.create(t, wanted)
		return
	}
	testutil.Must(t, err)
	now.Data = wanted.Data
	testutil.Must(t, c.Update(t.Context(), now))
}

// childKinds lists the kinds of objects that this operator or the previous operator creates for a stack.
var childKinds = []metav1.TypeMeta{
	{APIVersion: "v1", Kind: "ConfigMap"},
	{APIVersion: "v1", Kind: "Secret"},
	{APIVersion: "v1", Kind: "ServiceAccount"},
	{APIVersion: "v1", Kind: "Service"},
	{APIVersion: "v1", Kind: "PersistentVolumeClaim"},
	{APIVersion: "apps/v1", Kind: "Deployment"},
	{APIVersion: "networking.k8s.io/v1", Kind: "Ingress"},
	{APIVersion: "networking.k8s.io/v1", Kind: "NetworkPolicy"},
	{APIVersion: "policy/v1", Kind: "PodDisruptionBudget"},
	{APIVersion: "autoscaling/v2", Kind: "HorizontalPodAutoscaler"},
	{APIVersion: "rbac.authorization.k8s.io/v1", Kind: "RoleBinding"},
	{APIVersion: "batch/v1", Kind: "Job"},
}

// children returns the objects in the namespace of a trial that are not in its manifest, without the fields that the
// cluster adds.
func (c live) children(t *testing.T, one *trial) []map[string]any {
	t.Helper()
	brought := map[string]bool{}
	for _, object := range one.configMaps {
		brought[object.GetName()] = true
	}
	var found []map[string]any
	for _, kind := range childKinds {
		list := &unstructured.UnstructuredList{}
		list.SetAPIVersion(kind.APIVersion)
		list.SetKind(kind.Kind + "List")
		testutil.Must(t, c.List(t.Context(), list, client.InNamespace(one.namespace)))
		for i := range list.Items {
			if kind.Kind != "ConfigMap" || !brought[list.Items[i].GetName()] {
				found = append(found, written(&list.Items[i]))
			}
		}
	}
	return found
}

// written returns an object without the fields that the cluster adds.
func written(object *unstructured.Unstructured) map[string]any {
	metadata := map[string]any{"name": object.GetName()}
	for field, value := range object.Object["metadata"].(map[string]any) { //nolint:forcetypeassert // the API server checked it
		if field == "labels" || field == "annotations" {
			metadata[field] = value
		}
	}
	object.Object["metadata"] = metadata
	delete(object.Object, "status")
	for _, field := range []string{"clusterIP", "clusterIPs"} {
		unstructured.RemoveNestedField(object.Object, "spec", field)
	}
	return object.Object
}
