//go:build node

package node

import (
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// written identifies an object, and contains the time at which the operator last wrote it.
type written struct {
	UID  types.UID
	Time time.Time
}

// children returns the objects that the operator created for the scenario's stacks, keyed by kind and name.
func (s *scenario) children() map[string]written {
	s.t.Helper()
	found := map[string]written{}
	for _, kind := range render.ChildKinds() {
		list := &metav1.PartialObjectMetadataList{}
		list.SetGroupVersionKind(kind.GroupVersionKind)
		err := cluster.List(s.t.Context(), list, client.InNamespace(s.namespace),
			client.MatchingLabels{names.LabelManagedBy: names.ManagedBy})
		if meta.IsNoMatchError(err) {
			continue // the kind, for example Route, might not exist in the cluster
		}
		if err != nil {
			s.t.Fatal(err)
		}
		for i := range list.Items {
			found[kind.Kind+" "+list.Items[i].Name] = lastWrite(&list.Items[i])
		}
	}
	return found
}

func lastWrite(object *metav1.PartialObjectMetadata) written {
	last := written{UID: object.UID}
	for _, entry := range object.ManagedFields {
		if entry.Manager == names.FieldManager && entry.Time != nil && entry.Time.After(last.Time) {
			last.Time = entry.Time.Time
		}
	}
	return last
}
