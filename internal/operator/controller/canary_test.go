package controller_test

import (
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// canarySpec refers to Secrets in providers, storage, networking.tls, secretEnv and externalProviders.
const canarySpec = `
distribution: {name: starter}
providers:
  inference: {provider: vllm, endpoint: "http://vllm:8000", apiKey: {secretKeyRef: {name: vllm-creds, key: token}}}
storage:
  kv: {type: redis, endpoint: "redis:6379", password: {secretKeyRef: {name: redis-creds, key: password}}}
  sql: {type: postgres, connectionString: {secretKeyRef: {name: pg-creds, key: dsn}}}
networking: {tls: {enabled: true, secretName: llama-tls}, expose: true}
secretEnv: {CLIENT: {secretKeyRef: {name: vllm-creds, key: token}}}
externalProviders:
  safety: [{providerId: custom, image: "example.com/custom:1",
    secretRefs: {api_token: {secretKeyRef: {name: vllm-creds, key: token}}}}]
settings: {server: {auth: {provider_config: {type: custom, endpoint: "${env.CLIENT}"}}}}
`

// TestRunningSecretsStaySecret checks that no value of a Secret, except the certificate of an authority, appears
// outside Secrets: not in applied objects, status, events, logs or request paths, whether the value is valid or not.
func TestRunningSecretsStaySecret(t *testing.T) {
	const (
		canary = "cAnArY-7d1f"
		number = "90210777123"
	)
	env := controllertest.NewEnvironment(t)
	env.OwnOperatorConfig = true
	defer env.InstallDefinition(t, controllertest.GatewayDefinition(t, "httproutes"))()
	defer env.InstallDefinition(t, controllertest.GatewayDefinition(t, "backendtlspolicies"))()
	env.WaitForBackendTLSPolicyKind(t)
	certificate, broken := controllertest.NewTLSSecret(t, "llama-tls"), controllertest.NewMismatchedTLSSecret(t, "broken-tls")
	slipped, authority := controllertest.NewTLSSecret(t, "slipped-tls"), setCertificateAndAuthority(t, certificate, canary)
	setCertificateAndAuthority(t, slipped, canary)
	// If a Secret contains a certificate and its authority, the operator copies the authority to a ConfigMap for Gateways.
	// The operator must not copy a private key that is in the same value as the authority.
	slipped.Data[names.TLSAuthority] = append(slipped.Data[names.TLSAuthority], slipped.Data["tls.key"]...)
	// One line of each key is sufficient to find the key.
	keys := []string{
		strings.Split(string(certificate.Data["tls.key"]), "\n")[1], strings.Split(string(broken.Data["tls.key"]), "\n")[1],
		strings.Split(string(slipped.Data["tls.key"]), "\n")[1],
	}
	marked := append([]string{canary, number}, keys...)
	env.Create(t, certificate, broken, slipped,
		controllertest.NewSecret("vllm-creds", "token", canary+"-token"),
		controllertest.NewSecret("redis-creds", "password", canary+" p@ss"),
		controllertest.NewSecret("pg-creds", "dsn", "postgresql://"+canary+":"+canary+"@"+canary+"-host/"+canary),
		controllertest.NewSecret("broken-dsn", "dsn", "postgresql://u:"+canary+"@h:notaport/db?"+canary+"=1"),
		controllertest.NewSecret("number", "token", number),
	)
	env.StartOperator(t, "canary")
	env.SetOperatorConfig(t, operatorconfig.KeyGateway, "{name: public, namespace: gateways}")
	env.SetOperatorConfig(t, operatorconfig.KeyRegistries, "readLabels: false")
	env.Create(t, env.NewStack(t, "good", canarySpec))
	env.Create(t, env.NewStack(t, "dsn", strings.ReplaceAll(canarySpec, "pg-creds", "broken-dsn")))
	env.Create(t, env.NewStack(t, "number", strings.ReplaceAll(canarySpec, "vllm-creds", "number")))
	env.Create(t, env.NewStack(t, "tls", strings.ReplaceAll(canarySpec, "llama-tls", "broken-tls")))
	env.Create(t, env.NewStack(t, "slipped", strings.ReplaceAll(canarySpec, "llama-tls", "slipped-tls")))
	env.WaitForCondition(t, "tls", v1alpha2.ConditionReady, v1alpha2.ReasonSecretValueUnusable)
	env.WaitForCondition(t, "good", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	env.WaitForCondition(t, "dsn", v1alpha2.ConditionReady, v1alpha2.ReasonSecretValueUnusable)
	env.WaitForCondition(t, "number", v1alpha2.ConditionReady, v1alpha2.ReasonSecretValueUnusable)
	env.WaitForCondition(t, "slipped", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	shown := &corev1.ConfigMap{}
	env.WaitForChild(t, "good-server-ca", shown)
	if got := shown.Data[names.TLSAuthority]; got != string(authority) {
		t.Errorf("the ConfigMap for Gateways contains %q, want only the authority's certificate", got)
	}
	env.WaitForNoChild(t, "slipped-server-ca", shown)
	failWithText(t, env, canary)
	controllertest.WaitUntil(t, func() error { // the operator writes events last
		for range env.ListEvents(t) {
			return nil
		}
		return os.ErrNotExist
	})

	checkObjectsWithout(t, env, marked)
	checkLogsWithout(t, marked)
}

// failWithText makes the pods of the stack "good" fail, with the given text in every container message.
func failWithText(t *testing.T, env *controllertest.Environment, canary string) {
	t.Helper()
	// A server prints the values that it rejects, and a kubelet prints the responses from registries.
	said := "ValidationError: [input_value='" + canary + "']\n" + canary + "Error: " + canary
	set := env.CreateReplicaSet(t, "good", appsv1.ReplicaSetStatus{})
	states := controllertest.ServerPodStatus("i",
		controllertest.WaitingState("ImagePullBackOff", "https://u:"+canary+"@example.com"),
		controllertest.TerminatedState(0, "Completed", said))
	states.InitContainerStatuses = controllertest.InitContainerStatuses(set, map[string]corev1.ContainerState{
		"external-provider-custom": controllertest.WaitingState("ImagePullBackOff",
			"https://u:"+canary+"@example.com: unauthorized"),
	})
	env.CreatePod(t, set, states)
	env.WaitForCondition(t, "good", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutFailed)
	env.WaitForExternalProviders(t, "good", `custom Failed: Failed to pull provider image "example.com/custom:1": the registry requires credentials, or rejects the credentials; `+
		"add a valid pull Secret to spec.workload.overrides.imagePullSecrets; see kubectl describe pod good-1-a")
}

// checkObjectsWithout checks that none of the operator's objects contains any of the marked strings.
func checkObjectsWithout(t *testing.T, env *controllertest.Environment, marked []string) {
	t.Helper()
	kinds := []schema.GroupVersionKind{
		{Version: "v1", Kind: "ConfigMapList"},
		{Version: "v1", Kind: "ServiceList"},
		{Version: "v1", Kind: "ServiceAccountList"},
		{Version: "v1", Kind: "PersistentVolumeClaimList"},
		{Group: "apps", Version: "v1", Kind: "DeploymentList"},
		render.HTTPRouteKind.GroupVersion().WithKind("HTTPRouteList"),
		render.BackendTLSPolicyKind.GroupVersion().WithKind("BackendTLSPolicyList"),
		{Group: "events.k8s.io", Version: "v1", Kind: "EventList"},
		v1alpha2.GroupVersion.WithKind("LlamaStackDistributionList"),
	}
	looked := 0
	for _, kind := range kinds {
		list := &unstructured.UnstructuredList{}
		list.SetGroupVersionKind(kind)
		testutil.Must(t, env.Client.List(t.Context(), list, client.InNamespace(env.Namespace)))
		err := meta.EachListItem(list, func(item runtime.Object) error {
			data, err := json.Marshal(item)
			looked++
			for _, value := range marked {
				if strings.Contains(string(data), value) {
					t.Errorf("%s contains the value of a Secret:\n%s", kind.Kind, data)
				}
			}
			return err
		})
		testutil.Must(t, err)
	}
	if looked < 8 {
		t.Errorf("the test found only %d objects", looked)
	}
}

// checkLogsWithout checks that neither the operator's log nor the audit log contains any of the marked strings.
func checkLogsWithout(t *testing.T, marked []string) {
	t.Helper()
	trail, err := os.ReadFile(controllertest.AuditLog())
	testutil.Must(t, err)
	for name, text := range map[string]string{"log": controllertest.OperatorLog().String(), "audit log": string(trail)} {
		if slices.ContainsFunc(marked, func(value string) bool { return strings.Contains(text, value) }) {
			t.Errorf("the %s contains the value of a Secret", name)
		}
	}
}

// setCertificateAndAuthority adds a certificate for exposed stacks to a Secret, and an authority after a comment with
// the given text.
func setCertificateAndAuthority(t *testing.T, secret *corev1.Secret, text string) (authority []byte) {
	t.Helper()
	secret.Data["tls.crt"], secret.Data["tls.key"] = testutil.NewCertificate(t, time.Now().Add(90*24*time.Hour), "*."+names.DefaultDomain)
	authority = testutil.CertificateFor(t, "authority")
	secret.Data[names.TLSAuthority] = slices.Concat([]byte("# "+text+"\n"), authority)
	return authority
}
