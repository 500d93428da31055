package contract

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// answers contains the expected messages for the manifests that the previous operator does not accept, because its CRD
// rejects them or because they are written for a different proposal for v1alpha2. An empty list means that this
// operator accepts the manifest.
var answers = map[string][]string{
	"19-llsmcp-integer-env.yaml":                  {"spec.server.containerSpec.env[6].value: must be text, got a number; quote it"},
	"25-lls-observability-null-name.yaml":         {"toolRuntime/rag-runtime requires the API files"}, // and a null name is treated as an absent name
	"27-rhoai-docs-pgvector-no-distribution.yaml": {"spec.server.distribution: required"},
	"36-v1alpha2-pr253-ha.yaml":                   {`spec.workload.autoscaling.targetCPUUtilizationPercentage: unknown field; did you mean "targetCPUUtilization"?`},
	"37-v1alpha2-pr253-vllm-postgres.yaml": {
		"spec.providers.inference[0].secretRefs[api_key]", "secretKeyRef",
	},
	"39-v1alpha2-spec-quickstart-production.yaml": {
		`spec.workload.autoscaling.targetCPUUtilizationPercentage: unknown field; did you mean "targetCPUUtilization"?`,
	},
	"38-v1alpha2-pr253-networking.yaml": {`spec.networking.allowedFrom.namespaces[0]: "nsA" is not a valid namespace name`},
	"40-claims-containerspec-image.yaml": {
		"spec.server.distribution: required", "spec.server.containerSpec.image: unknown field; did you mean spec.server.distribution.image?",
		"spec.providers: unknown field", "spec.apis: unknown field",
	},
}

func TestManifestsWithoutTwin(t *testing.T) {
	if !havePublished(t) {
		return
	}
	files := unpaired(t)
	if len(files) != len(answers) {
		t.Errorf("%d manifests, %d answers", len(files), len(answers))
	}
	for _, file := range files {
		want, known := answers[filepath.Base(file)]
		_, messages, code, err := render(file)
		testutil.Must(t, err)
		if !known || (code != 0) != (len(want) > 0) {
			t.Errorf("%s: known %t, exit code %d\n%s", filepath.Base(file), known, code, messages)
		}
		for _, text := range want {
			if !strings.Contains(messages, text) {
				t.Errorf("%s: no %q in\n%s", filepath.Base(file), text, messages)
			}
		}
	}
}
