package controller_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// everyOptionSpec is a spec that requests every kind of child.
const everyOptionSpec = `
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
        - {name: proxy, image: "registry.example.com/proxy:1", ports: [{containerPort: 8443}],
           env: [{name: A, valueFrom: {fieldRef: {fieldPath: metadata.name}}}]}
`

// TestRunningCallsWithEveryOption checks that, with every option on, there is one write for each child and one for the
// status, and no write for objects in their desired state.
func TestRunningCallsWithEveryOption(t *testing.T) {
	t.Parallel()
	env := controllertest.NewEnvironment(t)
	credentials := controllertest.NewSecret("vllm-creds", "token", "sk-abc")
	credentials.StringData["postgres"] = "postgresql://llama:pass-word@db:5432/llama"
	certificate, _ := testutil.NewCertificate(t, time.Now().Add(time.Hour))
	env.Create(t, credentials, controllertest.NewConfigMap("company-ca", "ca-bundle.crt", string(certificate)))
	env.StartOperator(t, "every-option")
	env.Create(t, env.NewStack(t, "my", everyOptionSpec))
	env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)

	stack, deployment := &v1alpha2.LlamaStackDistribution{}, &appsv1.Deployment{}
	env.Get(t, "my", stack)
	env.Get(t, "my", deployment)
	want := []string{
		"patch configmaps " + stack.Status.ConfigGeneration.ConfigMapName,
		"patch configmaps " + names.Startup("my"),
		"patch configmaps my-ca-bundle",
		"patch secrets " + controllertest.StorageSecretOf(t, deployment),
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
	for _, call := range want {
		fields := strings.Fields(call)
		kind, name := fields[1], fields[len(fields)-1]
		other := kind == "configmaps" || kind == "secrets" || kind == "llamastackdistributions"
		if !other && !names.IsChild("my", name) {
			t.Errorf("names.IsChild does not know %s %q, so that the cache does not hold it whole", kind, name)
		}
	}
	seen := env.WaitUntilIdle(t, "every-option")
	got := controllertest.SortWrites(controllertest.ListWrites(seen))
	if diff := cmp.Diff(controllertest.SortWrites(want), got); diff != "" {
		t.Errorf("writes of a new object (-want +got):\n%s", diff)
	}
	touched := stack.DeepCopy()
	touched.Annotations = map[string]string{"somebody": "touched it"}
	env.Patch(t, touched, client.MergeFrom(stack))
	env.WaitForCall(t, "every-option", len(seen))
	now := env.WaitUntilIdle(t, "every-option")
	if diff := cmp.Diff([]string{"get secrets vllm-creds"}, now[len(seen):]); diff != "" {
		t.Errorf("calls of another reconcile (-want +got):\n%s", diff)
	}
	const idle = 3 * time.Second
	err := wait.PollUntilContextTimeout(t.Context(), 10*controllertest.PollInterval, idle, true,
		func(context.Context) (bool, error) {
			return len(env.ListCalls(t, "every-option")) > len(now), nil
		})
	if err == nil {
		t.Errorf("calls of an idle object: %v", env.ListCalls(t, "every-option")[len(now):])
	}
}
