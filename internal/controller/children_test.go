package controller_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// respec replaces the spec of the stack.
func (b *bench) respec(t *testing.T, name, spec string) {
	t.Helper()
	patch, err := json.Marshal([]map[string]any{{"op": "replace", "path": "/spec", "value": b.stack(t, name, spec).Spec}})
	if err != nil {
		t.Fatal(err)
	}
	if err := b.Patch(t.Context(), b.stack(t, name, "{}"), client.RawPatch(types.JSONPatchType, patch)); err != nil {
		t.Fatal(err)
	}
}

// appears waits until a child exists.
func (b *bench) appears(t *testing.T, name string, child client.Object) {
	t.Helper()
	eventually(t, func() error { return b.Get(t.Context(), b.key(name), child) })
}

// goes waits until a child does not exist.
func (b *bench) goes(t *testing.T, name string, child client.Object) {
	t.Helper()
	eventually(t, func() error {
		err := b.Get(t.Context(), b.key(name), child)
		if apierrors.IsNotFound(err) {
			return nil
		}
		return fmt.Errorf("%T %q is still there: %w", child, name, err)
	})
}

func TestDisruptionBudget(t *testing.T) {
	b := newBench(t)
	b.direct(t, "budget")
	b.create(t, b.stack(t, "my", `{distribution: {name: starter}, workload: {replicas: 2}}`))
	budget := &policyv1.PodDisruptionBudget{}
	b.appears(t, "my-pdb", budget)
	want := func(what string, minAvailable, maxUnavailable *intstr.IntOrString) {
		t.Helper()
		eventually(t, func() error {
			b.get(t, "my-pdb", budget)
			got := policyv1.PodDisruptionBudgetSpec{
				MinAvailable:   budget.Spec.MinAvailable,
				MaxUnavailable: budget.Spec.MaxUnavailable,
			}
			if diff := cmp.Diff(policyv1.PodDisruptionBudgetSpec{MinAvailable: minAvailable, MaxUnavailable: maxUnavailable},
				got); diff != "" {
				return fmt.Errorf("%s (-want +got):\n%s", what, diff)
			}
			return nil
		})
	}
	one, half, three := new(intstr.FromInt32(1)), new(intstr.FromString("50%")), intstr.FromInt32(3)
	want("of two replicas", nil, one)

	edited := budget.DeepCopy()
	edited.Spec.MaxUnavailable = &three
	if err := b.Patch(t.Context(), edited, client.MergeFrom(budget)); err != nil {
		t.Fatal(err)
	}
	want("after somebody's edit", nil, one)

	b.respec(t, "my", `{distribution: {name: starter}, workload: {replicas: 1, podDisruptionBudget: {minAvailable: 50%}}}`)
	want("configured the other way", half, nil)
	b.respec(t, "my", `{distribution: {name: starter}, workload: {replicas: 1}}`)
	b.goes(t, "my-pdb", budget)
}

func TestNetworkPolicy(t *testing.T) {
	b := newBench(t)
	b.configured = true
	b.start(t, "policy")
	policy := &networkingv1.NetworkPolicy{}
	b.create(t, b.stack(t, "my", `{distribution: {name: starter}, networking: {allowedFrom: {namespaces: [web]}}}`),
		b.stack(t, "other", `{distribution: {name: starter}}`))
	b.appears(t, "my-network-policy", policy)
	sources := func() (namespaces []string) {
		for _, peer := range policy.Spec.Ingress[0].From {
			if peer.NamespaceSelector != nil {
				namespaces = append(namespaces, peer.NamespaceSelector.MatchLabels[corev1.LabelMetadataName])
			}
		}
		return namespaces
	}
	if diff := cmp.Diff([]string{b.namespace, "web"}, sources()); diff != "" {
		t.Errorf("from (-want +got):\n%s", diff)
	}
	b.condition(t, "other", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	b.goes(t, "other-network-policy", policy)

	b.configure(t, operatorconfig.KeyFeatureFlags, "enableNetworkPolicy: {enabled: true}")
	b.appears(t, "other-network-policy", policy)
	b.respec(t, "my", `{distribution: {name: starter}}`)
	eventually(t, func() error {
		b.get(t, "my-network-policy", policy)
		if got := sources(); len(got) != 1 {
			return fmt.Errorf("from namespaces %v", got)
		}
		return nil
	})
	b.configure(t, operatorconfig.KeyFeatureFlags, "")
	b.goes(t, "my-network-policy", policy)
	b.goes(t, "other-network-policy", policy)
}

// everyOption requests every child at once.
const everyOption = `
distribution: {name: starter}
providers:
  inference: {provider: vllm, endpoint: "http://vllm:8000", apiKey: {secretKeyRef: {name: vllm-creds, key: token}}}
storage:
  sql: {type: postgres, connectionString: {secretKeyRef: {name: vllm-creds, key: postgres}}}
networking:
  tls: {caBundle: {configMapName: company-ca}}
  expose: {hostname: llama.example.com, annotations: {a: b}, tlsSecretName: llama-tls}
  allowedFrom: {namespaces: [web], labels: [llama-access, team=ml]}
workload:
  replicas: 2
  workers: 2
  resources: {requests: {cpu: 500m, memory: 0.5Gi}}
  storage: {size: 1Gi, accessModes: [ReadWriteMany]}
  podDisruptionBudget: {minAvailable: 1}
  autoscaling: {maxReplicas: 5}
  topologySpreadConstraints:
  - {maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule, labelSelector: {matchLabels: {app: llama-stack}}}
  overrides:
    podTemplate:
      spec:
        nodeSelector: {gpu: a100}
        tolerations: [{key: nvidia.com/gpu, operator: Exists}]
        initContainers: [{name: fetch, image: "registry.example.com/fetch:1", resources: {limits: {cpu: 0.5}}}]
        containers:
        - {name: llama-stack, resources: {limits: {nvidia.com/gpu: 1}}, livenessProbe: {$patch: delete}}
        - {name: proxy, image: "registry.example.com/proxy:1", ports: [{containerPort: 8443}], env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}
`

// TestCallsWithEveryOption checks that, with every option on, there is still one write for each child and one for the
// status, and none for objects in their desired state.
func TestCallsWithEveryOption(t *testing.T) {
	b := newBench(t)
	credentials := secret("vllm-creds", "token", "sk-abc")
	credentials.StringData["postgres"] = "postgresql://llama:pass-word@db:5432/llama"
	certificate, _ := testutil.NewCertificate(t, time.Now().Add(time.Hour))
	b.create(t, credentials, configMap("company-ca", "ca-bundle.crt", string(certificate)))
	b.start(t, "every-option")
	b.create(t, b.stack(t, "my", everyOption))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)

	stack := &v1alpha2.LlamaStackDistribution{}
	b.get(t, "my", stack)
	want := []string{
		"patch configmaps " + names.BaseConfigMap("my", baseHash(t)),
		"patch configmaps " + stack.Status.ConfigGeneration.ConfigMapName,
		"patch configmaps " + names.Startup("my"),
		"patch configmaps my-ca-bundle",
		"patch secrets my-storage",
		"patch serviceaccounts my-sa",
		"patch persistentvolumeclaims my-pvc",
		"patch networkpolicies my-network-policy",
		"patch deployments my",
		"patch services my-service",
		"patch ingresses my-ingress",
		"patch poddisruptionbudgets my-pdb",
		"patch horizontalpodautoscalers my-hpa",
		"patch llamastackdistributions status my",
	}
	seen := b.settled(t, "every-option")
	if diff := cmp.Diff(want, writes(seen)); diff != "" {
		t.Errorf("writes of a new object (-want +got):\n%s", diff)
	}
	touched := stack.DeepCopy()
	touched.Annotations = map[string]string{"somebody": "touched it"}
	if err := b.Patch(t.Context(), touched, client.MergeFrom(stack)); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		if len(b.calls(t, "every-option")) == len(seen) {
			return errors.New("no reconcile yet")
		}
		return nil
	})
	now := b.settled(t, "every-option")
	if diff := cmp.Diff([]string{"get secrets vllm-creds"}, now[len(seen):]); diff != "" {
		t.Errorf("calls of another reconcile (-want +got):\n%s", diff)
	}
	const idle = 3 * time.Second
	err := wait.PollUntilContextTimeout(t.Context(), 10*poll, idle, true, func(context.Context) (bool, error) {
		return len(b.calls(t, "every-option")) > len(now), nil
	})
	if err == nil {
		t.Errorf("calls of an idle object: %v", b.calls(t, "every-option")[len(now):])
	}
}
