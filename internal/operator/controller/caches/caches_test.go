package caches

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestDefinitionHandler checks which events for a definition count as the addition or the removal of a kind. A new
// version in an existing definition can also add a kind.
func TestDefinitionHandler(t *testing.T) {
	first := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Generation: 1}}
	status := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Generation: 1, ResourceVersion: "2"}}
	second := &metav1.PartialObjectMetadata{ObjectMeta: metav1.ObjectMeta{Generation: 2}}
	going := second.DeepCopy()
	going.DeletionTimestamp = &metav1.Time{Time: time.Unix(1, 0)}
	for name, tc := range map[string]struct {
		event func(toolscache.ResourceEventHandler)
		want  []string
	}{
		"created":             {func(h toolscache.ResourceEventHandler) { h.OnAdd(first, true) }, []string{"comes"}},
		"spec changed":        {func(h toolscache.ResourceEventHandler) { h.OnUpdate(first, second) }, []string{"comes"}},
		"only status changed": {func(h toolscache.ResourceEventHandler) { h.OnUpdate(first, status) }, nil},
		"deletion requested":  {func(h toolscache.ResourceEventHandler) { h.OnUpdate(second, going) }, []string{"goes"}},
		"deleted":             {func(h toolscache.ResourceEventHandler) { h.OnDelete(going) }, []string{"goes"}},
	} {
		var got []string
		tc.event(definitionHandler(func() { got = append(got, "comes") }, func() { got = append(got, "goes") }))
		if !slices.Equal(got, tc.want) {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

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
	testutil.Must(t, AddIndexes(t.Context(), made))
	meta := metav1.ObjectMeta{Name: "my-service", Labels: names.Labels("my")}
	ofClaim := &corev1.Event{ObjectMeta: meta, InvolvedObject: corev1.ObjectReference{Name: "my-pvc"}}
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
	} {
		value := made[tc.index]
		if value == nil {
			t.Errorf("%s: no index %q among %v", name, tc.index, made)
		} else if diff := cmp.Diff(tc.want, value(tc.object)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if want := len(Watched()) - 1; len(made) != want {
		t.Errorf("%d indexes, want %d: %v", len(made), want, made)
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

func TestIndexed(t *testing.T) {
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
		if err := (Indexed{under}).List(t.Context(), &corev1.PodList{}, tc.options...); err != nil {
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
