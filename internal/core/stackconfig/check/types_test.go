package check_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/check"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// A type that the release does not have is an error only if the server certainly has no such type, and if it certainly
// creates the provider. If the release is unknown, only a type that no release has is reported.
func TestUnknownTypes(t *testing.T) {
	const config = `version: 2
distro_name: mine
providers:
  inference:
  - {provider_id: own, provider_type: "remote::vlm"}
  - {provider_id: "${env.OWN:+own2}", provider_type: "remote::vllm2"}
  - {provider_id: older, provider_type: "remote::tgi"}
`
	const own, conditional, older = `"remote::vlm" is not a type of inference provider in `,
		`"remote::vllm2" is not a type of inference provider in `, `"remote::tgi" is not a type of inference provider in release 0.7`
	const ifAdded, meant = ", so the server starts only if the image adds this type", `; did you mean "remote::vllm"?`
	const removed = "; release 0.6 was the last release with this provider type; serve the model with vLLM and use inference/remote::vllm"
	for name, tc := range map[string]struct {
		published, unknown, moreVariables bool
		extra                             string
		errors, warnings                  []string
	}{
		"published": {
			published: true, errors: []string{own + "release 0.7" + meant, older + removed},
		},
		"with variables of unknown names": {
			published: true, moreVariables: true, errors: []string{own + "release 0.7" + meant, older + removed},
			warnings: []string{conditional + "release 0.7, so the server does not start if the variable OWN is set" + meant},
		},
		"another image": {warnings: []string{
			own + "release 0.7" + ifAdded + meant, conditional + "release 0.7" + ifAdded + meant, older + ifAdded + removed,
		}},
		"an unknown release": {unknown: true, warnings: []string{
			own + "any known release" + ifAdded + meant, conditional + "any known release" + ifAdded + meant,
		}},
		"with types of their own": {published: true, extra: "external_providers_dir: /providers\n"},
	} {
		t.Run(name, func(t *testing.T) {
			base, err := baseconfig.Parse([]byte(config + tc.extra))
			if err != nil {
				t.Fatal(err)
			}
			d := draft.New(base, &intent.Intent{MoreVariables: tc.moreVariables}, release.Default(), "")
			d.Published, d.Unknown = tc.published, tc.unknown
			draft.Resolve(d)
			check.Configuration(d, nil)
			report := d.Finish()
			var errors, warnings []string
			for _, err := range report.Errors {
				errors = append(errors, err.Detail)
			}
			for _, warning := range report.Warnings {
				warnings = append(warnings, warning.Message)
			}
			for i := range tc.errors {
				tc.errors[i] += " (in the base configuration)"
			}
			if diff := cmp.Diff(tc.errors, errors); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tc.warnings, warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}
