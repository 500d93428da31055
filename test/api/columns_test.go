package api

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// stateOf returns a status as the operator writes it.
func stateOf(
	in status.Input, change func(*v1alpha2.LlamaStackDistributionStatus),
) *v1alpha2.LlamaStackDistributionStatus {
	in.Generation, in.Now = 1, metav1.Now()
	summary := status.Summarize(in)
	made := &v1alpha2.LlamaStackDistributionStatus{
		Phase: summary.Phase, ObservedGeneration: 1, Conditions: summary.Conditions, Replicas: 1, Selector: "app=llama-stack",
		ServiceURL: "http://my-service.ns.svc.cluster.local:8321",
		ResolvedDistribution: &v1alpha2.ResolvedDistribution{
			Name: "starter", Image: "registry.example.com/starter:1",
			ImageFrom: v1alpha2.ImageFromCatalogue, ConfigSource: v1alpha2.ConfigSourceEmbedded, ServerRelease: "0.7",
			ServerReleaseFrom: "catalogue",
			ConfigHash:        strings.Repeat("0", 64),
		},
		ConfigGeneration: &v1alpha2.ConfigGeneration{ConfigMapName: "my-config-01234567", ProviderCount: 3, ResourceCount: 2, ConfigVersion: "2"},
		Version:          &v1alpha2.VersionStatus{OperatorVersion: "v9", LlamaStackServerVersion: "0.7.3"},
	}
	if change != nil {
		change(made)
	}
	return made
}

func applied(available metav1.Condition) []metav1.Condition {
	holds := func(name, reason, message string) metav1.Condition {
		return metav1.Condition{Type: name, Status: metav1.ConditionTrue, Reason: reason, Message: message}
	}
	return []metav1.Condition{
		holds(v1alpha2.ConditionValidationSucceeded, v1alpha2.ReasonSpecValid, "The spec is valid"),
		holds(v1alpha2.ConditionSecretsResolved, v1alpha2.ReasonNoSecretsReferenced, "The spec does not refer to any Secret"),
		holds(v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonConfigGenerationSucceeded, "Generated config.yaml with 3 providers and 2 models"),
		holds(v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateSucceeded, "Every object is applied"),
		available,
	}
}

func availability(state metav1.ConditionStatus, reason, message string) metav1.Condition {
	return metav1.Condition{Type: v1alpha2.ConditionAvailable, Status: state, Reason: reason, Message: message}
}

func healthy() status.Input {
	return status.Input{
		Observed: applied(availability("True", v1alpha2.ReasonMinimumReplicasAvailable, "1/1 replicas available with current config")),
	}
}

// withStatus creates a stack with a status. The returned function removes the stack.
func withStatus(t *testing.T, name string, made *v1alpha2.LlamaStackDistributionStatus) (done func()) {
	t.Helper()
	c := newClient(t)
	object := newStack(name)
	testutil.Must(t, c.Create(t.Context(), object))
	data, err := json.Marshal(map[string]any{"status": made})
	testutil.Must(t, err)
	testutil.Must(t, c.Status().Patch(t.Context(), object, client.RawPatch(types.MergePatchType, data)))
	return func() { remove(t, c, object) }
}

// age matches the age of one of this test's stacks.
var age = regexp.MustCompile(`^\d+s$`)

// TestColumns compares the output of kubectl get for stacks in five states. It also checks the columns of a stack with
// a status that the previous operator wrote.
func TestColumns(t *testing.T) {
	defer withStatus(t, "columns-a-first", stateOf(status.Input{
		Observed: applied(availability("False", v1alpha2.ReasonRolloutInProgress, "0/1 replicas available with current config")),
	}, func(s *v1alpha2.LlamaStackDistributionStatus) { s.Version.LlamaStackServerVersion = "" }))()
	defer withStatus(t, "columns-b-ready", stateOf(healthy(),
		func(s *v1alpha2.LlamaStackDistributionStatus) { s.AvailableReplicas = 1 }))()
	defer withStatus(t, "columns-c-exposed", stateOf(healthy(), func(s *v1alpha2.LlamaStackDistributionStatus) {
		s.AvailableReplicas, s.RouteURL = 1, "https://my.example.com"
	}))()
	defer withStatus(t, "columns-d-change", stateOf(status.Input{
		Serving: true, Earlier: true,
		Observed: applied(availability("False", v1alpha2.ReasonRolloutInProgress, "0/1 replicas available with current config")),
	}, func(s *v1alpha2.LlamaStackDistributionStatus) { s.AvailableReplicas = 1 }))()
	defer withStatus(t, "columns-e-invalid", stateOf(status.Input{Failure: &status.Failure{
		Condition: v1alpha2.ConditionValidationSucceeded, Reason: v1alpha2.ReasonInvalidSpec, Message: "spec.x is invalid",
		Retry: status.OnObjectChange,
	}}, func(s *v1alpha2.LlamaStackDistributionStatus) {
		s.ServiceURL, s.ResolvedDistribution, s.ConfigGeneration, s.Replicas = "", nil, nil, 0
	}))()
	defer withStatus(t, "columns-f-previous", &v1alpha2.LlamaStackDistributionStatus{
		Phase: v1alpha2.PhaseReady, AvailableReplicas: 1, ServiceURL: "http://my-service.ns.svc.cluster.local:8321",
		Conditions: []metav1.Condition{{
			Type: "DeploymentReady", Status: "True", Reason: "DeploymentReady",
			LastTransitionTime: metav1.Now(),
		}},
	})()
	const narrow = `NAME READY STATUS RELEASE URL AGE
columns-a-first False RolloutInProgress 0.7 http://my-service.ns.svc.cluster.local:8321 AGE
columns-b-ready True MinimumReplicasAvailable 0.7 http://my-service.ns.svc.cluster.local:8321 AGE
columns-c-exposed True MinimumReplicasAvailable 0.7 https://my.example.com AGE
columns-d-change False RolloutInProgress 0.7 http://my-service.ns.svc.cluster.local:8321 AGE
columns-e-invalid False InvalidSpec AGE
columns-f-previous http://my-service.ns.svc.cluster.local:8321 AGE
`
	const wide = `NAME READY STATUS RELEASE URL AGE PHASE PROVIDERS AVAILABLE DISTRIBUTION CONFIG SERVER OPERATOR
columns-a-first False RolloutInProgress 0.7 http://my-service.ns.svc.cluster.local:8321 AGE Initializing 3 0 registry.example.com/starter:1 my-config-01234567 v9
columns-b-ready True MinimumReplicasAvailable 0.7 http://my-service.ns.svc.cluster.local:8321 AGE Ready 3 1 registry.example.com/starter:1 my-config-01234567 0.7.3 v9
columns-c-exposed True MinimumReplicasAvailable 0.7 https://my.example.com AGE Ready 3 1 registry.example.com/starter:1 my-config-01234567 0.7.3 v9
columns-d-change False RolloutInProgress 0.7 http://my-service.ns.svc.cluster.local:8321 AGE Ready 3 1 registry.example.com/starter:1 my-config-01234567 0.7.3 v9
columns-e-invalid False InvalidSpec AGE Failed 0 0.7.3 v9
columns-f-previous http://my-service.ns.svc.cluster.local:8321 AGE Ready 1
`
	for name, tc := range map[string]struct {
		args []string
		want string
	}{
		"narrow": {nil, narrow},
		"wide":   {[]string{"-o", "wide"}, wide},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tc.want, table(t, tc.args...)); diff != "" {
				t.Errorf("kubectl get (-want +got):\n%s", diff)
			}
		})
	}
}

// table returns the lines that kubectl get prints for this test's stacks, without padding and ages.
func table(t *testing.T, args ...string) string {
	t.Helper()
	out, err := kubectl(t, "", append([]string{"get", "llsd"}, args...)...)
	if err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var lines strings.Builder
	for line := range strings.Lines(out) {
		fields := strings.Fields(line)
		if len(fields) == 0 || fields[0] != "NAME" && !strings.HasPrefix(fields[0], "columns-") {
			continue
		}
		for i := range fields {
			if age.MatchString(fields[i]) {
				fields[i] = "AGE"
			}
		}
		lines.WriteString(strings.Join(fields, " ") + "\n")
	}
	return lines.String()
}
