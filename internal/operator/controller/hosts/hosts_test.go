package hosts

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/caches"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestOf checks the values of the index of stacks by host name.
func TestOf(t *testing.T) {
	v1alpha1 := newExposedStack(`true`)
	v1alpha1.Annotations = map[string]string{names.AnnotationCompat: names.CompatV1Alpha1}
	hosts := New(nil, nil, nil, false)
	for name, tc := range map[string]struct {
		object client.Object
		want   []string
	}{
		"a stack with a host name": {
			newExposedStack(`{"hostname": "llama.example.com"}`), []string{"llama.example.com"},
		},
		"a host name that is too long":  {newExposedStack(`{"hostname": "` + strings.Repeat("a", 254) + `"}`), nil},
		"a generated host name":         {newExposedStack(`true`), []string{names.HostLabel("my", "ns") + ".*"}},
		"a v1alpha1 stack":              {v1alpha1, []string{names.HostLabel("my", "ns") + ".*", "no host"}},
		"a stack that is not exposed":   {newExposedStack(`false`), nil},
		"an object that is not a stack": {&corev1.Pod{}, nil},
	} {
		if diff := cmp.Diff(tc.want, hosts.Of(tc.object)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// newExposedStack returns a stack with these settings in spec.networking.expose.
func newExposedStack(expose string) *v1alpha2.LlamaStackDistribution {
	stack := &v1alpha2.LlamaStackDistribution{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: "my"}}
	stack.Spec.Networking = &v1alpha2.NetworkingSpec{Expose: &v1alpha2.Expose{Raw: []byte(expose)}}
	return stack
}

// TestHostsIn checks that a lookup by host name finds a stack, whether its domain is in the spec or in the operator's
// ConfigMap.
func TestHostsIn(t *testing.T) {
	for name, tc := range map[string]struct {
		host, domain string
		want         []string
	}{
		"no domain":           {"llama.example.com", "", []string{"llama.example.com"}},
		"outside the domain":  {"llama.example.com", "apps.example.com", []string{"llama.example.com"}},
		"in the domain":       {"my-ns.apps.example.com", "apps.example.com", []string{"my-ns.apps.example.com", "my-ns.*"}},
		"equal to the domain": {"apps.example.com", "apps.example.com", []string{"apps.example.com"}},
		"in a longer domain":  {"my-ns.myapps.example.com", "apps.example.com", []string{"my-ns.myapps.example.com"}},
	} {
		if diff := cmp.Diff(tc.want, hostsIn(tc.host, tc.domain)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestExposeIsDecodedOnce checks that the host name of each version of a stack is decoded once, although the index, the
// event handler and the reconciles of all stacks with the same host name use it.
func TestExposeIsDecodedOnce(t *testing.T) {
	const crowd = 300
	var stacks []*stack
	var objects []client.Object
	for i := range crowd {
		one := newExposedStack(`{"hostname": "loud.example.com", "annotations": {"a": "b"}}`)
		one.Name = fmt.Sprintf("stack-%d", i)
		one.UID, one.ResourceVersion = types.UID(one.Name), "1"
		stacks, objects = append(stacks, one), append(objects, one)
	}
	known, _ := newHosts(t, objects...)
	decoded, decode := 0, known.exposures.decode
	known.exposures.decode = func(spec *v1alpha2.LlamaStackDistributionSpec) *v1alpha2.ExposeSpec {
		decoded++
		return decode(spec)
	}
	cluster := render.Cluster{Ingress: render.Ingress{Domain: "apps.example.com"}}
	for _, one := range stacks {
		known.Of(one) // for the index
		known.Of(one) // for the event handler
	}
	for _, one := range stacks[:3] {
		hosts, err := known.Names(t.Context(), cluster)
		testutil.Must(t, err)
		owner, err := hosts.Owner(one, nil)
		if err != nil || owner == nil && one != stacks[0] {
			t.Errorf("the owner of the host name of %s is %v, error %v", one.Name, owner, err)
		}
	}
	if decoded != crowd {
		t.Errorf("the host names of %d stacks were decoded %d times", crowd, decoded)
	}
}

// newHosts returns the host names of objects in a cluster, which is in memory.
func newHosts(t *testing.T, objects ...client.Object) (*Hosts, client.Client) {
	t.Helper()
	scheme, err := testutil.NewScheme()
	testutil.Must(t, err)
	direct := fake.NewClientBuilder().WithScheme(scheme).WithObjects(objects...).Build()
	c := testutil.NewUncached(direct)
	apis, err := caches.NewAPIs(t.Context(), c, direct.RESTMapper(), nil)
	testutil.Must(t, err)
	known := New(c, apis, resolve.NewOperatorConfig(c, names.OperatorNamespace), false)
	testutil.Must(t, known.Index(c).Start(t.Context(), nil))
	return known, direct
}

// TestHostnameInTheSameGeneration checks that a stack does not get the host name of another stack by a change that
// keeps the generation. A v1alpha1 client makes such a change with an annotation.
func TestHostnameInTheSameGeneration(t *testing.T) {
	victim, own := newExposedStack(`{"hostname": "a.example.com"}`), newExposedStack(`{"hostname": "b.example.com"}`)
	victim.Namespace, victim.UID, victim.CreationTimestamp = "theirs", "victim", metav1.Unix(1, 0)
	own.UID, own.CreationTimestamp = "own", metav1.Unix(2, 0)
	known, direct := newHosts(t, victim, own)
	testutil.Must(t, direct.Get(t.Context(), client.ObjectKeyFromObject(own), own))
	known.Of(own) // for the index
	own.Spec = victim.Spec
	testutil.Must(t, direct.Update(t.Context(), own))
	hosts, err := known.Names(t.Context(), render.Cluster{})
	testutil.Must(t, err)
	owner, err := hosts.Owner(own, nil)
	if err != nil || owner == nil || owner.Namespace != "theirs" {
		t.Errorf("the owner of the host name is %v, error %v", owner, err)
	}
}

// TestStackThatStaysWithoutAHost checks that a stack with an Ingress without a host name keeps the requests for every
// host, although its spec and its annotations do not show that the Ingress has no host name.
func TestStackThatStaysWithoutAHost(t *testing.T) {
	older := func(uid types.UID) *stack {
		one := newExposedStack(`true`)
		one.Name, one.UID = string(uid), uid
		one.Annotations = map[string]string{names.AnnotationCompat: names.CompatV1Alpha1}
		return one
	}
	for name, change := range map[string]func(*stack){
		"no annotation":       func(s *stack) { s.Annotations = nil },
		"no network settings": func(s *stack) { s.Spec.Networking = nil },
	} {
		first, second := older("first"), older("second")
		change(first)
		ingress := &networkingv1.Ingress{ObjectMeta: testutil.ChildMeta(first, names.Ingress(first.Name))}
		known, _ := newHosts(t, first, second, ingress)
		hosts, err := known.Names(t.Context(), render.Cluster{})
		testutil.Must(t, err)
		owner, err := hosts.Owner(second, nil)
		if err != nil || owner == nil || owner.Name != "first" {
			t.Errorf("%s: the owner is %v, error %v", name, owner, err)
		}
	}
}
