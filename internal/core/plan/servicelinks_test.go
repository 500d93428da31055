package plan_test

import (
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// A v1alpha1 stack still has the variables that Kubernetes derives from Services, unless such a variable would replace
// a port that the server reads.
func TestServiceLinks(t *testing.T) {
	const (
		vllm    = `{inference: {provider: vllm, settings: {base_url: "http://${env.VLLM_SERVICE_HOST:=vllm}:8000/v1"}}}`
		pgports = `{name: PGVECTOR_PORT, value: "5432"}, {name: POSTGRES_PORT, value: "5432"}, {name: MILVUS_PORT, value: "1"}`
	)
	user := map[string][]byte{"config.yaml": []byte("distro_name: a\nproviders: {}\nx: ${env.POSTGRES_PORT:=5432}\n")}
	for name, tc := range map[string]struct {
		spec string
		want bool
	}{
		"the image's configuration":    {`distribution: {name: starter}`, true},
		"the user's own image":         {`distribution: {image: "quay.io/team/llama:prod"}`, true},
		"a userConfig":                 {`overrideConfig: {configMapName: mine}`, true},
		"workers with a userConfig":    {"overrideConfig: {configMapName: mine}\nworkload: {workers: 2}", true},
		"generated":                    {`resources: {models: [{name: m, provider: openai}]}`, false},
		"generated, every port is set": {"resources: {models: [{name: m, provider: openai}]}\nworkload: {overrides: {env: [" + pgports + "]}}", true},
		"generated, reads a Service":   {"providers: " + vllm, true},
		"a variable reads a Service": {
			"resources: {models: [{name: m, provider: openai}]}\nworkload: {overrides: {env: [{name: VLLM_URL, value: http://$(VLLM_SERVICE_HOST)}]}}", true,
		},
		"a command reads a Service": {
			"resources: {models: [{name: m, provider: openai}]}\nworkload: {overrides: {command: [sh, -c, 'run $VLLM_SERVICE_PORT']}}", true,
		},
		"metrics":            {"workload: {overrides: {env: [{name: OGX_METRICS_ENDPOINT_ENABLED, value: 'true'}]}}", false},
		"metrics and a port": {"workload: {overrides: {env: [{name: OGX_METRICS_ENDPOINT_ENABLED, value: 'true'}, {name: OGX_METRICS_PORT, value: '9464'}]}}", true},
	} {
		in := marked(t, tc.spec, user)
		given := build(t, in).Rendered.Deployment.Spec.Template.Spec.EnableServiceLinks
		if links := given == nil; links != tc.want || given != nil && *given {
			t.Errorf("%s: enableServiceLinks is %v, want links %v", name, given, tc.want)
		}
		delete(in.Object.Annotations, names.AnnotationCompat)
		if given := build(t, in).Rendered.Deployment.Spec.Template.Spec.EnableServiceLinks; given == nil || *given {
			t.Errorf("%s: enableServiceLinks is %v without the compatibility annotation, want false", name, given)
		}
	}
}
