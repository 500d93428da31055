package stub_test

import (
	"encoding/json"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/stub"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
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
	testutil.Must(t, err)
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

// TestExceeds compares the counted memory of decoded objects with the memory that they use. In these shapes, a few
// encoded bytes need a lot of memory.
func TestExceeds(t *testing.T) {
	plain, rules, pod := new(unstructured.Unstructured), new(networkingv1.Ingress), new(corev1.Pod)
	for name, tc := range map[string]struct {
		into    client.Object
		content string
	}{
		"empty objects":      {plain, `{}`},
		"objects of a field": {plain, `{"a":1}`},
		"nine fields":        {plain, `{"a":1,"b":1,"c":1,"d":1,"e":1,"f":1,"g":1,"h":1,"i":1}`},
		"lists of a value":   {plain, `["a"]`},
		"texts":              {plain, `"a"`},
		"typed rules":        {rules, `{}`},
		"typed containers":   {pod, `{"name":"a","resources":{"limits":{"cpu":"1"}}}`},
	} {
		plain.Object, rules.Spec, pod.Spec = nil, networkingv1.IngressSpec{}, corev1.PodSpec{}
		list := "[" + strings.Repeat(tc.content+",", 20_000) + tc.content + "]"
		text := []byte(`{"kind":"K","spec":{"rules":` + list + `,"containers":` + list + `}}`)
		before := testutil.Heap()
		testutil.Must(t, json.Unmarshal(text, tc.into))
		used := testutil.Heap() - before
		if counted := 4 * used / 5; !stub.Exceeds(tc.into, counted) {
			t.Errorf("%s: %d bytes are in use, but fewer than %d are counted", name, used, counted)
		}
		if counted := 6 * used / 5; stub.Exceeds(tc.into, counted) {
			t.Errorf("%s: %d bytes are in use, but more than %d are counted", name, used, counted)
		}
		runtime.KeepAlive(text)
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

// TestDigestOfNoJSON checks that an object that JSON cannot express leads to a stub, and not to an error, which would
// end the list of all objects. Such an object arrives as protobuf.
func TestDigestOfNoJSON(t *testing.T) {
	policy := &networkingv1.NetworkPolicy{ObjectMeta: ingress(names.NetworkPolicy("my"), stub.MaxWhole).ObjectMeta}
	policy.Spec.Ingress = []networkingv1.NetworkPolicyIngressRule{{
		Ports: []networkingv1.NetworkPolicyPort{{Port: &intstr.IntOrString{Type: 7, StrVal: "http"}}},
	}}
	reduced, err := stub.Reduce(policy)
	testutil.Must(t, err)
	got, ok := reduced.(*networkingv1.NetworkPolicy)
	if !ok || !stub.Is(got) || got.Annotations["digest of the whole object"] != "5" {
		t.Errorf("got %+v, want a stub with the version as its digest", reduced)
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
		testutil.Must(t, reader.Get(t.Context(), client.ObjectKeyFromObject(want), got))
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
