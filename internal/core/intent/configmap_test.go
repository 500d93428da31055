package intent_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// In a v1alpha1 stack, the configuration file can also have the older name run.yaml. If a v1alpha1 stack has its own
// command, the file can have any name.
func TestKeysOfAnOverride(t *testing.T) {
	for name, tc := range map[string]struct {
		older, ownCommand bool
		key               string
		want              intent.ConfigMapUse
	}{
		"usual":                {want: intent.ConfigMapUse{Keys: []string{"config.yaml"}}},
		"given":                {key: "a.yaml", want: intent.ConfigMapUse{Keys: []string{"a.yaml"}}},
		"given, older":         {key: "a.yaml", older: true, want: intent.ConfigMapUse{Whole: true, Keys: []string{"a.yaml"}}},
		"older":                {older: true, want: intent.ConfigMapUse{Whole: true, AnyOf: []string{"config.yaml", "run.yaml"}}},
		"older, own command":   {older: true, ownCommand: true, want: intent.ConfigMapUse{Whole: true}},
		"own command, not old": {ownCommand: true, want: intent.ConfigMapUse{Keys: []string{"config.yaml"}}},
	} {
		stack := &v1alpha2.LlamaStackDistribution{}
		stack.Spec.OverrideConfig = &v1alpha2.OverrideConfigSource{ConfigMapName: "mine", Key: tc.key}
		if tc.older {
			stack.Annotations = map[string]string{names.AnnotationCompat: names.CompatV1Alpha1}
		}
		if tc.ownCommand {
			stack.Spec.Workload = &v1alpha2.WorkloadSpec{Overrides: &v1alpha2.WorkloadOverrides{Command: []string{"run"}}}
		}
		tc.want.Name, tc.want.Purpose, tc.want.Path = "mine", intent.PurposeOverride, "spec.overrideConfig.configMapName"
		if diff := cmp.Diff([]intent.ConfigMapUse{tc.want}, intent.ConfigMaps(stack)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
