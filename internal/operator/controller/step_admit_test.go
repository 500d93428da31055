package controller

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/planning"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

func TestAdmit(t *testing.T) {
	invalidSpec := func(message string) *status.Failure {
		return &status.Failure{
			Condition: v1alpha2.ConditionValidationSucceeded, Reason: v1alpha2.ReasonInvalidSpec,
			Message: message,
		}
	}
	for name, tc := range map[string]struct {
		spec        string
		annotations map[string]string
		want        string
		warnings    []string
		failure     *status.Failure
	}{
		"valid": {spec: `{distribution: {name: starter}}`, want: "True SpecValid: The spec is valid"},
		"a volume of the operator is replaced in a stored stack": {
			spec: `{distribution: {name: starter}, workload: {storage: {}, overrides: {volumes: [{name: lls-storage, emptyDir: {}}]}}}`,
			want: "True SpecValid: The operator accepts the spec because it is stored, and would reject it in a new stack:\n" +
				`spec.workload.overrides.volumes[0].name: "lls-storage" is the name of the operator's volume that spec.workload.storage needs, which this volume replaces: use another name`,
			warnings: []string{`spec.workload.overrides.volumes[0].name: "lls-storage" is the name of the operator's volume that spec.workload.storage needs, which this volume replaces: use another name`},
		},
		"invalid": {
			spec:    `{distribution: {name: starter, image: "example.com/mine:1"}}`,
			failure: invalidSpec(`spec.distribution: name "starter" and image "example.com/mine:1" are mutually exclusive: remove one of them`),
		},
		"two fields are invalid": {
			spec: `{distribution: {name: starter, image: "example.com/mine:1"}, workload: {replicas: 2, workers: 0}}`,
			failure: invalidSpec(`spec.distribution: name "starter" and image "example.com/mine:1" are mutually exclusive: remove one of them` +
				"\nspec.workload.workers: 0 is not a valid number of server processes; use 1 or more"),
		},
		"invalid annotation": {
			spec: `{distribution: {name: starter}}`, annotations: map[string]string{names.AnnotationPaused: "yes"},
			failure: invalidSpec(`metadata.annotations[llamastack.io/paused]: "yes" must be "true" or "false"; set "true" to pause the stack, or remove the annotation to resume the stack`),
		},
	} {
		t.Run(name, func(t *testing.T) {
			stack, report := testutil.NewStack(t, tc.spec), &report.Report{}
			stack.Annotations = tc.annotations
			decoded, warnings, err := planning.Admit(stack, report)
			checkFailure(t, err, tc.failure)
			if (decoded == nil) != (err != nil) {
				t.Errorf("intent %v with error %v", decoded, err)
			}
			if diff := cmp.Diff(tc.warnings, warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.want, conditionTexts(report)[v1alpha2.ConditionValidationSucceeded]); diff != "" {
				t.Errorf("condition (-want +got):\n%s", diff)
			}
		})
	}
}
