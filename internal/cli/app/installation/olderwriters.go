package installation

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// maxManagers is the maximum number of field managers that a message lists.
const maxManagers = 10

// olderWriters returns a sentence about the field managers that own fields of v1alpha1 in the stacks, with the time of
// the last write of each manager. Their manifests and scripts read and write v1alpha1. The sentence is empty if there
// are none.
func olderWriters(stacks []v1alpha2.LlamaStackDistribution) string {
	last := map[string]time.Time{}
	for i := range stacks {
		for _, entry := range stacks[i].ManagedFields {
			if entry.Subresource != "" || entry.APIVersion != v1alpha1.GroupVersion.String() {
				continue
			}
			at := last[entry.Manager]
			if entry.Time != nil && entry.Time.After(at) {
				at = entry.Time.Time
			}
			last[entry.Manager] = at
		}
	}
	var texts []string
	for _, manager := range slices.Sorted(maps.Keys(last)) {
		if len(texts) == maxManagers {
			texts = append(texts, fmt.Sprintf("%d more", len(last)-maxManagers))
			break
		}
		texts = append(texts, fmt.Sprintf("%s (last on %s)", manager, last[manager].UTC().Format(time.DateOnly)))
	}
	if len(texts) == 0 {
		return ""
	}
	return "field managers that write stacks as v1alpha1: " + list(texts)
}
