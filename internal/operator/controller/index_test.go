package controller

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// indexRecorder contains the index functions that were added, by kind and field.
type indexRecorder map[string]client.IndexerFunc

// IndexField records the index function of a field.
func (i indexRecorder) IndexField(
	_ context.Context, object client.Object, field string, value client.IndexerFunc,
) error {
	i[fmt.Sprintf("%T%s by %s", object, object.GetObjectKind().GroupVersionKind().Kind, field)] = value
	return nil
}

func TestIndexes(t *testing.T) {
	made := indexRecorder{}
	if err := addIndexes(t.Context(), made); err != nil {
		t.Fatal(err)
	}
	if err := (&Reconciler{exposures: newExposures()}).hostIndex(made).Start(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	meta := metav1.ObjectMeta{Name: "my-service", Labels: names.Labels("my")}
	ofClaim := &corev1.Event{ObjectMeta: meta, InvolvedObject: corev1.ObjectReference{Name: "my-pvc"}}
	v1alpha1 := newExposedStack(`true`)
	v1alpha1.Annotations = map[string]string{names.AnnotationCompat: names.CompatV1Alpha1}
	for name, tc := range map[string]struct {
		index  string
		object client.Object
		want   []string
	}{
		"a child":                        {"*v1.Service by instance", &corev1.Service{ObjectMeta: meta}, []string{"my"}},
		"a child's metadata":             {"*v1.PartialObjectMetadataSecret by instance", &metav1.PartialObjectMetadata{ObjectMeta: meta}, []string{"my"}},
		"a ConfigMap without labels":     {"*v1.PartialObjectMetadataConfigMap by instance", &metav1.PartialObjectMetadata{}, nil},
		"an event of a claim":            {"*v1.Event by claim", ofClaim, []string{"my-pvc"}},
		"an object that is not an event": {"*v1.Event by claim", &corev1.Pod{}, nil},
		"a stack with a host name":       {"*v1alpha2.LlamaStackDistribution by host", newExposedStack(`{"hostname": "llama.example.com"}`), []string{"llama.example.com"}},
		"a host name that is too long":   {"*v1alpha2.LlamaStackDistribution by host", newExposedStack(`{"hostname": "` + strings.Repeat("a", 254) + `"}`), nil},
		"a generated host name":          {"*v1alpha2.LlamaStackDistribution by host", newExposedStack(`true`), []string{names.HostLabel("my", "ns") + ".*"}},
		"a v1alpha1 stack":               {"*v1alpha2.LlamaStackDistribution by host", v1alpha1, []string{names.HostLabel("my", "ns") + ".*", "no host"}},
		"a stack that is not exposed":    {"*v1alpha2.LlamaStackDistribution by host", newExposedStack(`false`), nil},
		"an object that is not a stack":  {"*v1alpha2.LlamaStackDistribution by host", &corev1.Pod{}, nil},
	} {
		value := made[tc.index]
		if value == nil {
			t.Errorf("%s: no index %q among %v", name, tc.index, made)
		} else if diff := cmp.Diff(tc.want, value(tc.object)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if want := len(Watched()); len(made) != want {
		t.Errorf("%d indexes, want %d: %v", len(made), want, made)
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

// listRecorder records the options of a list call.
type listRecorder struct {
	client.Reader

	options client.ListOptions
}

// List records the options.
func (a *listRecorder) List(_ context.Context, _ client.ObjectList, options ...client.ListOption) error {
	a.options = client.ListOptions{}
	a.options.ApplyOptions(options)
	return nil
}

func TestIndexedCache(t *testing.T) {
	for name, tc := range map[string]struct {
		options []client.ListOption
		want    string
	}{
		"no options":                   {nil, ""},
		"only a namespace":             {[]client.ListOption{client.InNamespace("ns")}, ""},
		"labels without a stack":       {[]client.ListOption{client.MatchingLabels{names.LabelManagedBy: names.ManagedBy}}, ""},
		"labels of a stack's children": {[]client.ListOption{client.InNamespace("ns"), client.MatchingLabels(names.ChildSelector("my"))}, "instance=my"},
		"labels of a stack's pods":     {[]client.ListOption{client.MatchingLabels(names.Selector("my"))}, "instance=my"},
	} {
		under := &listRecorder{}
		if err := (indexedCache{under}).List(t.Context(), &corev1.PodList{}, tc.options...); err != nil {
			t.Error(err)
		}
		got := ""
		if under.options.FieldSelector != nil {
			got = under.options.FieldSelector.String()
		}
		if got != tc.want {
			t.Errorf("%s: field selector %q, want %q", name, got, tc.want)
		}
	}
}
