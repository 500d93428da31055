package plan

import (
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// PreviousConfigMaps returns the newest ConfigMap of each kind (generated, base) that is not current, so that pods can
// mount it after a rollback. The parameter existing lists the stack's own ConfigMaps.
func PreviousConfigMaps(existing []metav1.PartialObjectMetadata, current []string) []string {
	newestFirst := slices.SortedFunc(slices.Values(existing), func(a, b metav1.PartialObjectMetadata) int {
		if c := b.CreationTimestamp.Compare(a.CreationTimestamp.Time); c != 0 {
			return c
		}
		return strings.Compare(a.Name, b.Name)
	})
	var found []string
	seen := make(map[string]bool)
	for i := range newestFirst {
		kind := newestFirst[i].Labels[names.LabelConfig]
		if name := newestFirst[i].Name; kind != "" && !seen[kind] && !slices.Contains(current, name) {
			seen[kind] = true
			found = append(found, name)
		}
	}
	return found
}
