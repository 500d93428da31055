package rollout_test

import (
	"testing"

	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
)

func TestStartsAlike(t *testing.T) {
	const plain = `{metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: i, resources: {limits: {memory: 1Gi}}}]}}`
	for after, want := range map[string]bool{
		plain: true,
		`{metadata: {labels: {app: a, team: b, app.kubernetes.io/part-of: c}, annotations: {note: d}}, spec: {containers: [{name: a, image: i, resources: {limits: {memory: 1Gi}}}]}}`:                                                         true,
		`{metadata: {labels: {app: a, sidecar.istio.io/inject: "true"}}, spec: {containers: [{name: a, image: i, resources: {limits: {memory: 1Gi}}}]}}`:                                                                                       false,
		`{metadata: {labels: {app: a}, annotations: {llamastack.io/config-hash: a}}, spec: {containers: [{name: a, image: i, resources: {limits: {memory: 1Gi}}}]}}`:                                                                           false,
		`{metadata: {labels: {app: a}}, spec: {terminationGracePeriodSeconds: 5, priorityClassName: p, topologySpreadConstraints: [{maxSkew: 1}], containers: [{name: a, image: i, resources: {requests: {cpu: 1}, limits: {memory: 1Gi}}}]}}`: true,
		`{metadata: {labels: {app: a}}, spec: {nodeSelector: {arch: arm64}, containers: [{name: a, image: i, resources: {limits: {memory: 1Gi}}}]}}`:                                                                                           false,
		`{metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: i, resources: {limits: {memory: 2Gi}}}]}}`:                                                                                                                        true,
		`{metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: i, resources: {limits: {memory: 1000Mi}}}]}}`:                                                                                                                     false,
		`{metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: i, resources: {limits: {memory: 1Gi, cpu: 1}}}]}}`:                                                                                                                false,
		`{metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: i}]}}`:                                                                                                                                                            false,
		`{metadata: {labels: {app: a}}, spec: {containers: [{name: a, image: other, resources: {limits: {memory: 1Gi}}}]}}`:                                                                                                                    false,
	} {
		rendered := make([]rollout.Rendered, 2)
		for i, text := range []string{plain, after} {
			template := &corev1ac.PodTemplateSpecApplyConfiguration{}
			if err := yaml.UnmarshalStrict([]byte(text), template); err != nil {
				t.Fatal(err)
			}
			var err error
			rendered[i], err = rollout.NewRendered(appsv1ac.Deployment("my", "ns").WithSpec(
				appsv1ac.DeploymentSpec().WithTemplate(template)), rollout.Record{})
			if err != nil {
				t.Fatal(err)
			}
		}
		got, err := rendered[1].StartsAlike(rendered[0].Record, rendered[0].Deployment.Spec.Template)
		if got != want || err != nil {
			t.Errorf("%s: %t, error %v; want %t", after, got, err, want)
		}
	}
}
