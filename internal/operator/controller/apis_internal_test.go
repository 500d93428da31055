package controller

import (
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	toolscache "k8s.io/client-go/tools/cache"
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
