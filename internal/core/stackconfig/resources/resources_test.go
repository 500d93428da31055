package resources_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/resources"
)

func TestRegister(t *testing.T) {
	path := field.NewPath("spec", "resources", "models").Index(0)
	public := []resources.PublicModel{{Path: path.String(), Name: "llama", ID: "vllm/llama"}}
	for name, tt := range map[string]struct {
		in        intent.Intent
		unknown   bool
		models    []resources.PublicModel
		registers bool
		errors    int
	}{
		"nothing":                               {},
		"a model":                               {in: intent.Intent{Models: []intent.Model{{Name: "llama", Path: path}}}, models: public, registers: true},
		"a model for an unknown server release": {in: intent.Intent{Models: []intent.Model{{Name: "llama", Path: path}}}, unknown: true, registers: true},
		"a model with an unknown provider":      {in: intent.Intent{Models: []intent.Model{{Name: "llama", Path: path, Provider: "x"}}}, errors: 1},
	} {
		t.Run(name, func(t *testing.T) {
			base, err := baseconfig.Parse([]byte("providers: {inference: [{provider_id: vllm, provider_type: 'remote::vllm'}]}"))
			if err != nil {
				t.Fatal(err)
			}
			d := draft.New(base, &tt.in, release.Default(), "")
			d.Unknown = tt.unknown
			draft.Resolve(d)
			models, registers := resources.Register(d)
			if diff := cmp.Diff(tt.models, models); diff != "" || registers != tt.registers {
				t.Errorf("registers: %t, models (-want +got):\n%s", registers, diff)
			}
			if report := d.Finish(); len(report.Errors) != tt.errors {
				t.Errorf("errors: %v", report.Errors)
			}
		})
	}
}
