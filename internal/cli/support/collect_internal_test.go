package support

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestSecretsIn checks that secretsIn returns the Secrets that a pod refers to in pull Secrets, variables and volumes,
// because support-bundle redacts their values.
func TestSecretsIn(t *testing.T) {
	type object = map[string]any
	pod := object{"spec": object{
		"imagePullSecrets": []any{object{"name": "pull"}},
		"containers": []any{object{
			"env":     []any{object{"name": "A", "valueFrom": object{"secretKeyRef": object{"name": "key", "key": "k"}}}},
			"envFrom": []any{object{"secretRef": object{"name": "all"}}},
		}},
		"volumes": []any{
			object{"name": "a", "secret": object{"secretName": "volume"}},
			object{"name": "b", "projected": object{"sources": []any{object{"secret": object{"name": "projected"}}}}},
			object{"name": "c", "csi": object{"nodePublishSecretRef": object{"name": "csi"}}},
			object{"name": "d", "configMap": object{"name": "not-a-secret"}},
		},
	}}
	got := secretsIn(pod)
	slices.Sort(got)
	if diff := cmp.Diff([]string{"all", "csi", "key", "projected", "pull", "volume"}, got); diff != "" {
		t.Errorf("Secrets (-want +got):\n%s", diff)
	}
}
