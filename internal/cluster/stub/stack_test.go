package stub

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	kruntime "k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/validate"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// A cached stack has only the annotations that the operator reads, and no spec that is too large to be processed. It
// has managed fields only if another operator wrote the status.
func TestReduceStack(t *testing.T) {
	other := metav1.ManagedFieldsEntry{
		Manager: "manager", Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "llamastack.io/v1alpha1", Subresource: "status",
		FieldsV1: metav1.NewFieldsV1("{}"),
	}
	stack := &v1alpha2.LlamaStackDistribution{ObjectMeta: metav1.ObjectMeta{
		Name: "my", Generation: 2, Labels: map[string]string{"team": "a"}, Finalizers: []string{"f.example/f"},
		Annotations: map[string]string{
			corev1.LastAppliedConfigAnnotation: "much", "other": "yes", names.AnnotationPaused: "true",
		},
		ManagedFields: []metav1.ManagedFieldsEntry{{Manager: "m"}, other},
	}}
	stack.Spec.Distribution.Name = "starter"
	want := stack.DeepCopy()
	want.ManagedFields = []metav1.ManagedFieldsEntry{other}
	want.Annotations = map[string]string{names.AnnotationPaused: "true"}
	want.Labels, want.Finalizers = nil, nil
	want.ManagedFields[0].FieldsV1 = nil
	strip := func() *v1alpha2.LlamaStackDistribution {
		got, err := ReduceStack(stack.DeepCopy())
		testutil.Must(t, err)
		return got.(*v1alpha2.LlamaStackDistribution)
	}
	got := strip()
	first := got.Annotations[touched]
	delete(got.Annotations, touched)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stack (-want +got):\n%s", diff)
	}
	stack.Annotations[corev1.LastAppliedConfigAnnotation] = "more"
	if again := strip().Annotations[touched]; again != first || first == "" {
		t.Errorf("digests %q and %q, want the same one", first, again)
	}
	for _, entries := range []map[string]string{stack.Labels, stack.Annotations} {
		entries["touched"] = "yes"
		if again := strip().Annotations[touched]; again == first {
			t.Error("a change to the metadata does not cause a reconcile")
		}
		delete(entries, "touched")
	}
	stack.Annotations[names.UnreadableSpec] = strings.Repeat("x", maxProblem+1)
	if kept := strip().Annotations[names.UnreadableSpec]; len(kept) != maxProblem {
		t.Errorf("the mark of a spec that cannot be read has %d bytes, want %d", len(kept), maxProblem)
	}
	delete(stack.Annotations, names.UnreadableSpec)
	stack.Spec.Settings = &apiextensionsv1.JSON{Raw: []byte(`"` + strings.Repeat("x", validate.MaxSpecBytes) + `"`)}
	if kept := strip(); kept.Spec.Settings != nil || validate.SpecBytes(kept) <= validate.MaxSpecBytes {
		t.Error("a spec that is too large is kept, or not reported")
	}
}

// long returns a stack with a spec of 250 KB, and with long values of everything else that a tenant can write.
func long(name string) *v1alpha2.LlamaStackDistribution {
	stack := &v1alpha2.LlamaStackDistribution{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ns", Name: name, UID: "u", ResourceVersion: "5", Annotations: map[string]string{},
	}}
	for _, annotation := range names.StackAnnotations() {
		stack.Annotations[annotation] = strings.Repeat("x", 16<<10)
	}
	for i := range 1000 {
		stack.ManagedFields = append(stack.ManagedFields, metav1.ManagedFieldsEntry{
			Manager: fmt.Sprintf("manager %d", i), APIVersion: "llamastack.io/v1alpha1", Subresource: "status",
			Operation: metav1.ManagedFieldsOperationUpdate,
		})
	}
	stack.Spec.Distribution.Name = "starter"
	stack.Spec.Distribution.Image = strings.Repeat("x", 50<<10) // v1alpha1 has no limit
	stack.Spec.Settings = &apiextensionsv1.JSON{Raw: []byte(`"` + strings.Repeat("x", 50<<10) + `"`)}
	stack.Spec.Networking = &v1alpha2.NetworkingSpec{Expose: &v1alpha2.Expose{Raw: []byte(
		`{"hostname":"a.example.com","annotations":{"a":"` + strings.Repeat("x", 150<<10) + `"}}`)}}
	return stack
}

// TestCacheOfLongStacks checks the memory for 1,700 stacks with specs of 250 KB. It was 425 MiB, of the operator's 512.
func TestCacheOfLongStacks(t *testing.T) {
	const stacks = 1700
	kept := make([]any, 0, stacks)
	before := testutil.Heap()
	for range stacks {
		one, err := ReduceStack(long("my"))
		testutil.Must(t, err)
		kept = append(kept, one)
	}
	const most = 48 << 20 // 16 KiB of accepted losses for each stack, and 12 KiB for everything else
	if grown := testutil.Heap() - before; grown > most {
		t.Errorf("the cache holds %d bytes for %d stacks, want at most %d", grown, stacks, most)
	}
	runtime.KeepAlive(kept)
}

// TestOutline checks what an outline contains, and that a stack with an outline is read from the API server.
func TestOutline(t *testing.T) {
	stored := long("my")
	stored.ManagedFields = nil // the fake client checks them
	object, err := ReduceStack(stored.DeepCopy())
	testutil.Must(t, err)
	cached := object.(*v1alpha2.LlamaStackDistribution)
	want := v1alpha2.LlamaStackDistributionSpec{Distribution: stored.Spec.Distribution}
	want.Distribution.Image = want.Distribution.Image[:maxDistribution]
	want.Networking = &v1alpha2.NetworkingSpec{Expose: &v1alpha2.Expose{Raw: []byte(`{"hostname":"a.example.com"}`)}}
	if diff := cmp.Diff(want, cached.Spec); diff != "" {
		t.Errorf("outline (-want +got):\n%s", diff)
	}
	for text, exposed := range map[string]bool{`true`: true, `{"enabled": false}`: false, `"typo"`: false, `{}`: true} {
		spec := v1alpha2.LlamaStackDistributionSpec{Networking: &v1alpha2.NetworkingSpec{
			Expose: &v1alpha2.Expose{Raw: []byte(text)},
		}}
		got, err := Outline(&spec)
		if err != nil || got.Networking == nil || exposed != (plan.Expose(&got) != nil) {
			t.Errorf("outline of %s: %+v, %v, want exposed: %t", text, got.Networking, err, exposed)
		}
	}
	scheme := kruntime.NewScheme()
	testutil.Must(t, v1alpha2.AddToScheme(scheme))
	small := &v1alpha2.LlamaStackDistribution{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "small"}}
	reader := Reader{
		Reader: fake.NewClientBuilder().WithScheme(scheme).WithObjects(cached, small).Build(),
		Direct: fake.NewClientBuilder().WithScheme(scheme).WithObjects(stored).Build(),
	}
	got := &v1alpha2.LlamaStackDistribution{}
	if err := reader.Stack(t.Context(), client.ObjectKeyFromObject(small), got); err != nil {
		t.Errorf("a stack that the cache holds whole: %v", err)
	}
	testutil.Must(t, reader.Stack(t.Context(), client.ObjectKeyFromObject(stored), got))
	if diff := cmp.Diff(stored.Spec, got.Spec); diff != "" {
		t.Errorf("stack (-stored +read):\n%s", diff)
	}
	if got.Annotations[names.AnnotationPaused] != "" || got.Annotations[outlined] != "" {
		t.Errorf("the stack has the annotations %v", got.Annotations)
	}
}
