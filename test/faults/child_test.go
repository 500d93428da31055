package faults_test

import (
	"fmt"
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// children lists the faults that affect the stack's children.
var children = []fault{
	{name: "each child is deleted", strikes: onEachChild(deleteChild)},
	{name: "each child's labels are edited", strikes: onEachChild(patchChild(`{"metadata":{"labels":{"app.kubernetes.io/part-of":"me"}}}`))},
	{name: "each child is hidden from the operator", strikes: onEachChild(patchChild(`{"metadata":{"labels":{"app.kubernetes.io/managed-by":null}}}`))},
	{name: "children are edited", strikes: edits},
	{name: "a child is given to another owner, and then given back", slow: true, strikes: []strike{taken}},
	{name: "a child's name is taken by another owner", slow: true, fresh: true, strikes: []strike{nameTaken(true)}, spec: full},
	{name: "a child's name is taken by an object without a label", slow: true, fresh: true, strikes: []strike{nameTaken(false)}, spec: full},
}

// named identifies a child by kind and name. everyChild does not contain the PersistentVolumeClaim, because its
// deletion would wait for the pods.
type named struct{ group, version, kind, name string }

var everyChild = []named{
	{"apps", "v1", "Deployment", names.Deployment(stackName)},
	{"", "v1", "Service", names.Service(stackName)},
	{"", "v1", "ServiceAccount", names.ServiceAccount(stackName)},
	{"", "v1", "Secret", ""}, // the Secret with derived values, whose name contains a digest
	{"", "v1", "ConfigMap", names.CABundle(stackName)},
	{"", "v1", "ConfigMap", names.Startup(stackName)},
	{"", "v1", "ConfigMap", ""}, // the configuration, whose name contains a hash
	{"networking.k8s.io", "v1", "Ingress", names.Ingress(stackName)},
	{"networking.k8s.io", "v1", "NetworkPolicy", names.NetworkPolicy(stackName)},
	{"policy", "v1", "PodDisruptionBudget", names.PodDisruptionBudget(stackName)},
	{"autoscaling", "v2", "HorizontalPodAutoscaler", names.HorizontalPodAutoscaler(stackName)},
}

// child returns one of the stack's children.
func (s *stage) child(t *testing.T, wanted named) *unstructured.Unstructured {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(metav1.GroupVersion{Group: wanted.group, Version: wanted.version}.String())
	list.SetKind(wanted.kind + "List")
	testutil.Must(t, s.List(t.Context(), list, client.InNamespace(s.namespace),
		client.MatchingLabels(names.ChildSelector(stackName))))
	for i := range list.Items {
		found, labels := list.Items[i].GetName(), list.Items[i].GetLabels()
		if found == wanted.name || wanted.name == "" &&
			(wanted.kind == "Secret" || labels[names.LabelConfig] == names.ConfigKindGenerated) {
			return &list.Items[i]
		}
	}
	t.Fatalf("no %s %q", wanted.kind, wanted.name)
	return nil
}

func nothing() {}

// onEachChild returns a strike for each child.
func onEachChild(strikeChild func(*testing.T, *stage, *unstructured.Unstructured)) []strike {
	strikes := make([]strike, 0, len(everyChild))
	for _, wanted := range everyChild {
		strikes = append(strikes, func(t *testing.T, _ *theatre, s *stage) func() {
			t.Helper()
			strikeChild(t, s, s.child(t, wanted))
			return nothing
		})
	}
	return strikes
}

// deleteChild deletes a child, but not the pods of a Deployment, like `kubectl delete --cascade=orphan`.
func deleteChild(t *testing.T, s *stage, child *unstructured.Unstructured) {
	t.Helper()
	testutil.Must(t, s.Delete(t.Context(), child, client.PropagationPolicy(metav1.DeletePropagationOrphan)))
}

// patchChild returns a function that patches a child. The API server rejects a patch with unknown fields.
func patchChild(patch string) func(*testing.T, *stage, *unstructured.Unstructured) {
	return func(t *testing.T, s *stage, child *unstructured.Unstructured) {
		t.Helper()
		testutil.Must(t, s.Patch(t.Context(), child, client.RawPatch(types.MergePatchType, []byte(patch)),
			client.FieldValidation(metav1.FieldValidationStrict)))
	}
}

// edits are changes to fields that the operator sets. These changes do not require new pods.
var edits = []strike{
	edit("Deployment", `{"spec":{"progressDeadlineSeconds":7}}`),
	edit("Service", `{"spec":{"selector":{"app.kubernetes.io/instance":"nobody"}}}`),
	edit("Secret", `{"data":{"sql-password":"eA=="}}`),
	edit("Ingress", `{"spec":{"rules":[{"host":"elsewhere.example.com"}]}}`),
	edit("NetworkPolicy", `{"spec":{"ingress":[]}}`),
	edit("PodDisruptionBudget", `{"spec":{"minAvailable":0}}`),
	edit("HorizontalPodAutoscaler", `{"spec":{"maxReplicas":9}}`),
}

// edit changes the only child of a kind.
func edit(kind, patch string) strike {
	wanted := everyChild[slices.IndexFunc(everyChild, func(c named) bool { return c.kind == kind })]
	return func(t *testing.T, _ *theatre, s *stage) func() {
		t.Helper()
		patchChild(patch)(t, s, s.child(t, wanted))
		return nothing
	}
}

// taken sets a different owner on the stack's Service, and waits until the operator reports this owner. The returned
// function removes the owner.
func taken(t *testing.T, _ *theatre, s *stage) func() {
	t.Helper()
	owner := &corev1.ConfigMap{}
	s.get(t, "base", owner)
	service := s.child(t, everyChild[1])
	patch := `{"metadata":{"ownerReferences":[{"apiVersion":"v1","kind":"ConfigMap","name":"base","uid":"` + string(owner.UID) + `","controller":true}]}}`
	patchChild(patch)(t, s, service)
	eventually(t, "the stack reports the owner", func() error { return s.reports(t, `is controlled by ConfigMap "base"`) })
	return func() {
		patchChild(`{"metadata":{"ownerReferences":null}}`)(t, s, service)
	}
}

// nameTaken creates a Service that is not a child of the stack, but has the name of the stack's Service. The Service
// has either the stack's labels and a ConfigMap as its owner, or no labels.
func nameTaken(labeled bool) strike {
	return func(t *testing.T, _ *theatre, s *stage) func() {
		t.Helper()
		service := &corev1.Service{
			ObjectMeta: s.named(names.Service(stackName)), Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 1}}},
		}
		if labeled {
			owner := &corev1.ConfigMap{}
			s.get(t, "base", owner)
			service.Labels = names.Labels(stackName)
			service.OwnerReferences = []metav1.OwnerReference{*metav1.NewControllerRef(owner,
				corev1.SchemeGroupVersion.WithKind("ConfigMap"))}
		}
		s.create(t, service)
		return func() {
			eventually(t, "the stack reports that the name is taken", func() error {
				return s.reports(t, fmt.Sprintf("Service %q in namespace %q exists", service.Name, s.namespace))
			})
			testutil.Must(t, s.Delete(t.Context(), service))
		}
	}
}
