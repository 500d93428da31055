package convert_test

import (
	"encoding/json"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/randfill"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// fill sets every field to a value that its JSON form can hold.
func fill(filler *randfill.Filler, object any) {
	filler.NilChance(0.3).NumElements(1, 2).MaxDepth(12).Funcs(
		func(*metav1.TypeMeta, randfill.Continue) {},
		func(m *metav1.ObjectMeta, c randfill.Continue) {
			m.Name, m.Namespace = c.String(8), c.String(8)
			if c.Bool() {
				m.Annotations = map[string]string{c.String(8): c.String(8), "llamastack.io/container-name": c.String(4)}
			}
		},
		func(s *string, c randfill.Continue) { *s = text(c) },
		func(q *resource.Quantity, c randfill.Continue) {
			*q = *resource.NewQuantity(1+c.Int63n(99), resource.DecimalSI)
		},
		func(t *metav1.Time, c randfill.Continue) { *t = metav1.Unix(c.Int63n(1<<31), 0) },
		func(v *intstr.IntOrString, c randfill.Continue) {
			*v = intstr.FromInt32(c.Int31n(100))
			if c.Bool() {
				*v = intstr.FromString(text(c))
			}
		},
		func(j *apiextensionsv1.JSON, c randfill.Continue) { j.Raw = anyJSON(c) },
		func(p *v1alpha2.Providers, c randfill.Continue) { p.Raw = anyProviders(c) },
		func(m *v1alpha2.ModelEntry, c randfill.Continue) { m.Raw = anyJSON(c) },
		func(m *v1alpha2.ToolEntry, c randfill.Continue) { m.Raw = anyJSON(c) },
		func(m *v1alpha2.ShieldEntry, c randfill.Continue) { m.Raw = anyJSON(c) },
		func(e *v1alpha2.Expose, c randfill.Continue) {
			e.Raw = []byte([]string{"true", "false", "{}", `{"enabled":false}`, `{"hostname":"h"}`}[c.Intn(5)])
		},
		func(k *metav1.Condition, c randfill.Continue) {
			c.FillNoCustom(k)
			k.Type = conditionTypes[c.Intn(len(conditionTypes))]
			k.Status = []metav1.ConditionStatus{
				metav1.ConditionTrue, metav1.ConditionFalse, metav1.ConditionUnknown,
				"odd",
			}[c.Intn(4)]
		},
		func(g *v1alpha2.ConfigGeneration, c randfill.Continue) {
			c.FillNoCustom(g)
			g.ConfigMapName = "generated" // written objects always have a name
		},
		func(s *v1alpha1.LlamaStackDistributionStatus, c randfill.Continue) {
			c.FillNoCustom(s)
			if s.ConfigGeneration == nil {
				s.GeneratedConfigMap = "" // the types of the hub have no separate field for this name
			}
		},
		func(u *v1alpha1.UserConfigSpec, c randfill.Continue) {
			u.ConfigMapName, u.ConfigMapNamespace = []string{"", "config"}[c.Intn(2)], []string{"", "shared"}[c.Intn(2)]
		},
		func(v *corev1.Volume, c randfill.Continue) { v.Name = text(c) },
		func(e *corev1.EnvVar, c randfill.Continue) { e.Name, e.Value = text(c), text(c) },
		func(e *corev1.EnvFromSource, c randfill.Continue) { e.Prefix = text(c) },
	).Fill(object)
}

var conditionTypes = []string{
	"Available", "DeploymentReady", "HealthCheck", "DeploymentUpdated", "ServiceReady", "ConfigGenerated", "ConfigReady",
	"StorageReady", "other",
}

// text returns a string that JSON keeps unchanged.
func text(c randfill.Continue) string {
	return []string{"", "a", "llama-stack", "ü/~", "v1alpha1", "5Gi", "<&>"}[c.Intn(7)]
}

func anyJSON(c randfill.Continue) []byte {
	return encoded([]any{
		map[string]any{}, map[string]any{"a": text(c), "b": []any{1, nil, true}}, text(c), 7, false, []any{},
	}[c.Intn(6)])
}

// anyProviders returns providers with some of the keys that conversion reads, with values of any type.
func anyProviders(c randfill.Continue) []byte {
	one := func() any {
		provider := map[string]any{"provider": []any{"vllm", "remote::bedrock", 7, nil}[c.Intn(4)]}
		for _, key := range []string{"config", "settings", "region", "deploymentName", "endpoint"} {
			if c.Bool() {
				provider[key] = json.RawMessage(anyJSON(c))
			}
		}
		return provider
	}
	if c.Bool() {
		return encoded(one())
	}
	return encoded([]any{one(), one(), text(c)})
}

func encoded(value any) []byte {
	data, err := json.Marshal(value)
	if err != nil {
		panic(err) // the values are valid JSON
	}
	return data
}
