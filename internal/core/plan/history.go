package plan

import (
	"slices"
	"strings"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// KeepConfigMaps returns the names of a stack's ConfigMaps that must be kept: the current ConfigMaps, the newest other
// ConfigMap of each kind (generated, base), and every ConfigMap that a ReplicaSet uses. Because these ConfigMaps are
// kept, pods can mount them after a rollback. The parameter existing lists the stack's own ConfigMaps. The names are
// sorted, and include those of current ConfigMaps that do not exist yet.
func KeepConfigMaps(
	existing []metav1.PartialObjectMetadata, current []string, replicaSets []appsv1.ReplicaSet,
) []string {
	keep := slices.Clone(current)
	for i := range replicaSets {
		keep = append(keep, mounted(&replicaSets[i])...)
	}
	newestFirst := slices.SortedFunc(slices.Values(existing), func(a, b metav1.PartialObjectMetadata) int {
		if c := b.CreationTimestamp.Compare(a.CreationTimestamp.Time); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	previous := make(map[string]bool)
	for i := range newestFirst {
		kind := newestFirst[i].Labels[names.LabelConfig]
		if name := newestFirst[i].Name; kind != "" && !previous[kind] && !slices.Contains(current, name) {
			previous[kind] = true
			keep = append(keep, name)
		}
	}
	slices.Sort(keep)
	return slices.Compact(keep)
}

func mounted(set *appsv1.ReplicaSet) []string {
	var result []string
	for i := range set.Spec.Template.Spec.Volumes {
		if source := set.Spec.Template.Spec.Volumes[i].ConfigMap; source != nil {
			result = append(result, source.Name)
		}
	}
	return result
}
