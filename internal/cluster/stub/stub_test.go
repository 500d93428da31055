package stub_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/stub"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// ingress returns the Ingress of the stack "my" with an annotation of the given size.
func ingress(name string, bytes int) *networkingv1.Ingress {
	return &networkingv1.Ingress{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: "ns", Name: name, UID: "u", ResourceVersion: "5", Labels: names.Labels("my"),
			Annotations: map[string]string{"a": strings.Repeat("x", bytes)},
			OwnerReferences: []metav1.OwnerReference{{
				APIVersion: v1alpha2.GroupVersion.String(), Kind: v1alpha2.Kind, Name: "my", UID: "o", Controller: new(true),
			}},
		},
		Spec: networkingv1.IngressSpec{Rules: []networkingv1.IngressRule{{Host: "my.example.com"}, {Host: "b"}}},
	}
}

func reduce(t *testing.T, object *networkingv1.Ingress) *networkingv1.Ingress {
	t.Helper()
	reduced, err := stub.Reduce(object.DeepCopy())
	if err != nil {
		t.Fatal(err)
	}
	return reduced.(*networkingv1.Ingress)
}

// TestReduce checks which objects are kept whole, and what a stub contains.
func TestReduce(t *testing.T) {
	child := ingress("my-ingress", 10<<10)
	if diff := cmp.Diff(child, reduce(t, child)); diff != "" {
		t.Errorf("a child (-want +got):\n%s", diff)
	}
	orphan, controlled := ingress("my-ingress", 10<<10), ingress("my-ingress", 10)
	orphan.OwnerReferences = nil
	controlled.OwnerReferences[0].Kind = "Deployment"
	rules := ingress("my-ingress", 10) // 20 KB when encoded, 96 KB in memory
	rules.Spec.Rules = append(rules.Spec.Rules, make([]networkingv1.IngressRule, 4000)...)
	for name, object := range map[string]*networkingv1.Ingress{
		"a long child": ingress("my-ingress", 80<<10), "another name": ingress("other", 10),
		"a long object without a controller": orphan, "another controller": controlled,
		"a child with many entries": rules,
	} {
		reduced := reduce(t, object)
		if !stub.Is(reduced) || len(reduced.Annotations) != 1 {
			t.Errorf("%s is kept whole", name)
		}
		want := object.DeepCopy()
		want.Annotations = reduced.Annotations
		want.Labels = map[string]string{names.LabelManagedBy: names.ManagedBy, names.LabelInstance: "my"}
		want.Spec.Rules = want.Spec.Rules[:1]
		if diff := cmp.Diff(want, reduced); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestDigest checks that a watch notices every change to a long child, except to its status.
func TestDigest(t *testing.T) {
	object := ingress("my-ingress", 80<<10)
	before := reduce(t, object).Annotations
	for name, change := range map[string]func(*networkingv1.Ingress){
		"a label":       func(i *networkingv1.Ingress) { i.Labels["b"] = "c" },
		"an annotation": func(i *networkingv1.Ingress) { i.Annotations["b"] = "c" },
		"the spec":      func(i *networkingv1.Ingress) { i.Spec.Rules[1].Host = "c" },
	} {
		changed := object.DeepCopy()
		change(changed)
		if cmp.Equal(before, reduce(t, changed).Annotations) {
			t.Errorf("a change to %s is not noticed", name)
		}
	}
	same := object.DeepCopy()
	same.ResourceVersion = "6"
	same.Status.LoadBalancer.Ingress = []networkingv1.IngressLoadBalancerIngress{{IP: "10.0.0.1"}}
	if diff := cmp.Diff(before, reduce(t, same).Annotations); diff != "" {
		t.Errorf("a change to the status changes the digest:\n%s", diff)
	}
}

// TestReader checks that an object is read from the API server only if the cache holds a stub of it.
func TestReader(t *testing.T) {
	long, small := ingress("my-ingress", 80<<10), ingress("my-service", 10)
	huge := ingress("my-httproute", 10)
	huge.Spec.Rules = append(huge.Spec.Rules, make([]networkingv1.IngressRule, 200_000)...)
	reduced := reduce(t, long)
	reader := stub.Reader{
		Reader: fake.NewClientBuilder().WithObjects(reduced, small, reduce(t, huge)).Build(),
		Direct: fake.NewClientBuilder().WithObjects(long, huge).Build(),
	}
	for _, want := range []*networkingv1.Ingress{long, small} {
		got := &networkingv1.Ingress{}
		if err := reader.Get(t.Context(), client.ObjectKeyFromObject(want), got); err != nil {
			t.Fatal(err)
		}
		got.TypeMeta = want.TypeMeta
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", want.Name, diff)
		}
	}
	const want = "needs more than 4 MiB of memory"
	err := reader.Get(t.Context(), client.ObjectKeyFromObject(huge), &networkingv1.Ingress{})
	if err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("an object with 200,000 entries: %v, want %q", err, want)
	}
}
