package validate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

func TestWarnings(t *testing.T) {
	for name, tc := range map[string]struct {
		spec string
		want []string
	}{
		"nothing odd": {spec: "{providers: {inference: {provider: vllm}}, disabled: [eval]}"},
		"disabled and configured": {
			spec: "{providers: {postTraining: {provider: torchtune}, datasetIo: {provider: localfs}}, disabled: [post_training, datasetIo]}",
			want: []string{
				`spec.providers.datasetIo: provider "localfs" is ignored, because spec.disabled[1] disables it; remove the provider or the entry`,
				`spec.providers.postTraining: provider "torchtune" is ignored, because spec.disabled[0] disables it; remove the provider or the entry`,
			},
		},
		"one of two is disabled": {
			spec: "{providers: {inference: [{id: a, provider: vllm}, {id: b, provider: openai}]}, disabled: [inference/b]}",
			want: []string{`spec.providers.inference[1]: provider "b" is ignored, because spec.disabled[0] disables it; remove the provider or the entry`},
		},
		"variable twice": {
			spec: "{secretEnv: {TOKEN: {secretKeyRef: {name: a, key: b}}}, workload: {overrides: {env: [{name: TOKEN, value: x}]}}}",
			want: []string{`spec.workload.overrides.env[0].name: "TOKEN" is also set in secretEnv, and the value here takes precedence; remove one of the two`},
		},
		"a command that has to serve HTTPS": {
			spec: "{networking: {tls: {enabled: true, secretName: a}}, workload: {overrides: {command: [uvicorn]}}}",
			want: []string{"spec.workload.overrides.command: the probes use HTTPS, so this command must serve HTTPS: " +
				"use the certificate and the key in /etc/llama-stack-tls, or use the image's entrypoint"},
		},
		"a command without HTTPS": {spec: "{networking: {tls: {}}, workload: {overrides: {command: [uvicorn]}}}"},
		"a topology spread constraint without a selector": {
			spec: "{workload: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]}}",
			want: []string{"spec.workload.topologySpreadConstraints[0]: without a labelSelector, the constraint counts no pods and has no effect: " +
				"add labelSelector: {matchLabels: {app.kubernetes.io/instance: my-stack}}"},
		},
		"workers that share a CPU": {
			spec: "{workload: {workers: 4, resources: {limits: {cpu: 1500m}}}}",
			want: []string{`spec.workload.resources.limits[cpu]: "1500m" is less than one CPU for each of 4 workers, and the server stops ` +
				`a worker that takes more than 5 s to start, so the server might never become ready; raise the limit to "4" or remove it`},
		},
		"a CPU for each worker":         {spec: "{workload: {workers: 2, resources: {limits: {cpu: 2000m}}}}"},
		"workers without limit":         {spec: "{workload: {workers: 2, resources: {requests: {cpu: 100m}, limits: {memory: 1Gi}}}}"},
		"one worker with half a CPU":    {spec: "{workload: {workers: 1, resources: {limits: {cpu: 500m}}}}"},
		"workers that a command starts": {spec: "{workload: {workers: 2, resources: {limits: {cpu: 1}}, overrides: {command: [gunicorn]}}}"},
		"the operator's prefix": {
			spec: "{workload: {overrides: {env: [{name: A}, {name: LLSD_VLLM_API_KEY}]}}}",
			want: []string{`spec.workload.overrides.env[1].name: "LLSD_VLLM_API_KEY" begins with LLSD_, ` +
				`the prefix of the operator's variables, and replaces any operator variable with the same name; use another name`},
		},
	} {
		t.Run(name, func(t *testing.T) {
			obj := &v1alpha2.LlamaStackDistribution{}
			obj.Name, obj.Spec.Distribution.Name = "my-stack", "starter"
			if err := yaml.UnmarshalStrict([]byte(tc.spec), &obj.Spec); err != nil {
				t.Fatal(err)
			}
			_, warnings, errs := Spec(obj)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			if diff := cmp.Diff(tc.want, warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}
