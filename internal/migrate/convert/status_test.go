package convert_test

import (
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
)

// followed maps the v1alpha1-only conditions to the v1alpha2 conditions from which they are derived.
var followed = map[any]string{
	"DeploymentReady": "Available", "HealthCheck": "Available", "ServiceReady": "DeploymentUpdated",
	"ConfigReady": "ConfigGenerated",
}

// stored returns an object with the part of its status that v1alpha2 stores. It removes the configuration of the
// providers. It also removes any other part that only v1alpha1 has, if the object has the part from which v1alpha1
// derives it.
func stored(object tree) tree {
	result := runtime.DeepCopyJSON(object)
	status, ok := result["status"].(tree)
	if !ok {
		return result
	}
	made, _ := status["configGeneration"].(tree)
	if name, _ := made["configMapName"].(string); name != "" {
		delete(status, "generatedConfigMap")
	}
	told, _ := status["distributionConfig"].(tree)
	providers, _ := told["providers"].([]any)
	for _, provider := range providers {
		if fields, ok := provider.(tree); ok {
			delete(fields, "config")
		}
	}
	if conditions, ok := status["conditions"].([]any); ok {
		status["conditions"] = withoutFollowers(conditions)
	}
	return result
}

func withoutFollowers(conditions []any) []any {
	kept := []any{}
	for _, entry := range conditions {
		condition, _ := entry.(tree)
		if name, ok := condition["type"].(string); !ok || !hasCondition(conditions, followed[name]) {
			kept = append(kept, entry)
		}
	}
	return kept
}

func hasCondition(conditions []any, name string) bool {
	return slices.ContainsFunc(conditions, func(entry any) bool {
		condition, _ := entry.(tree)
		state := condition["status"]
		return name != "" && condition["type"] == name && (state == "True" || state == "False" || state == "Unknown")
	})
}

// sameStored returns the part of an object that a round trip keeps, for an object that was written in either version.
func sameStored(object tree) tree { return stored(withoutData(object)) }

// checkStored checks that an object that was converted back to v1alpha2 has no part that only v1alpha1 has.
func checkStored(t *testing.T, back tree) {
	t.Helper()
	if back["apiVersion"] == v1alpha2.GroupVersion.String() {
		if want := stored(back); !reflect.DeepEqual(want, back) {
			t.Fatalf("v1alpha2 stores a part that only v1alpha1 has (-want +got):\n%s", cmp.Diff(want, back))
		}
	}
}

// Conversion to v1alpha1 derives the conditions that only v1alpha1 has, with the reasons and the messages of v1alpha1.
func TestFollowers(t *testing.T) {
	type seen map[string]string
	for name, c := range map[string]struct {
		conditions []any
		serviceURL string
		want       seen
	}{
		"running": {
			[]any{
				condition("Available", "True", "MinimumReplicasAvailable"),
				condition("DeploymentUpdated", "True", "DeploymentUpdateSucceeded"),
				condition("ConfigGenerated", "True", "ConfigGenerationSucceeded"),
			},
			"http://my",
			seen{
				"DeploymentReady": "True DeploymentReady: Deployment is ready", "HealthCheck": "True HealthCheckPassed: Health check passed",
				"ServiceReady": "True ServiceReady: Service is ready", "ConfigReady": "True ConfigGenerationSucceeded: of ConfigGenerated",
			},
		},
		"starting":       {[]any{condition("Available", "False", "RolloutInProgress")}, "", seen{"DeploymentReady": "False DeploymentFailed: of Available", "HealthCheck": "False HealthCheckFailed: Deployment not ready"}},
		"scaled to zero": {[]any{condition("Available", "True", "ScaledToZero")}, "", seen{"DeploymentReady": "True DeploymentReady: Deployment is ready", "HealthCheck": "Unknown ScaledToZero: No pods to check"}},
		"nothing deployed": {
			[]any{condition("Available", "Unknown", "Waiting")},
			"",
			seen{"DeploymentReady": "Unknown Waiting: of Available", "HealthCheck": "Unknown Waiting: of Available"},
		},
		"without a Service": {[]any{condition("DeploymentUpdated", "True", "DeploymentUpdateSucceeded")}, "", seen{}},
		"a rejected change": {
			[]any{condition("DeploymentUpdated", "False", "DeploymentUpdateFailed")},
			"http://my",
			seen{"ServiceReady": "True ServiceReady: Service is ready"},
		},
		"a rejected Service": {[]any{condition("DeploymentUpdated", "False", "DeploymentUpdateFailed")}, "", seen{"ServiceReady": "False ServiceFailed: of DeploymentUpdated"}},
		"before the Service": {
			[]any{condition("DeploymentUpdated", "Unknown", "Waiting")},
			"",
			seen{"ServiceReady": "Unknown Waiting: of DeploymentUpdated"},
		},
		"no configuration": {[]any{condition("ConfigGenerated", "False", "ConfigGenerationFailed")}, "", seen{"ConfigReady": "False ConfigGenerationFailed: of ConfigGenerated"}},
		"conditions without a valid status": {[]any{
			tree{"type": "Available", "status": int64(7)},
			tree{"type": "Available"},
			"Available", nil,
		}, "", seen{}},
		"the stored condition is ignored": {[]any{condition("HealthCheck", "True", "Old"), condition("Available", "False", "RolloutFailed")}, "", seen{"DeploymentReady": "False DeploymentFailed: of Available", "HealthCheck": "False HealthCheckFailed: Deployment not ready"}},
		"only the stored condition exists": {
			[]any{condition("HealthCheck", "True", "HealthCheckPassed")},
			"",
			seen{"HealthCheck": "True HealthCheckPassed: of HealthCheck"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			older := convert.FromHub(tree{"status": tree{"conditions": c.conditions, "serviceURL": c.serviceURL}})
			got := seen{}
			list, _ := at(older, "status")["conditions"].([]any)
			for _, entry := range list {
				made, _ := entry.(tree)
				if name, _ := made["type"].(string); followed[name] != "" {
					got[name] = made["status"].(string) + " " + made["reason"].(string) + ": " + made["message"].(string)
					if made["lastTransitionTime"] != "2026-11-20T09:00:00Z" || made["observedGeneration"] != int64(3) {
						t.Errorf("%s: dated %v, of generation %v", name, made["lastTransitionTime"], made["observedGeneration"])
					}
				}
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("conditions (-want +got):\n%s", diff)
			}
		})
	}
}

func condition(name, status, reason string) tree {
	return tree{
		"type": name, "status": status, "reason": reason, "message": "of " + name,
		"observedGeneration": int64(3), "lastTransitionTime": "2026-11-20T09:00:00Z",
	}
}

// An edit to conditions and fields that only v1alpha1 has does not change the stored status. An edit to the phase does.
func TestEditOfStatusAsV1Alpha1(t *testing.T) {
	hub := tree{"apiVersion": v1alpha2.GroupVersion.String(), "metadata": tree{"name": "a"}, "status": tree{
		"phase": "Ready", "selector": "a=b", "configGeneration": tree{"configMapName": "c"},
		"conditions": []any{condition("Available", "True", "MinimumReplicasAvailable")},
	}}
	older := convert.FromHub(hub)
	status := at(older, "status")
	status["generatedConfigMap"] = "mine"
	conditions, _ := status["conditions"].([]any)
	for _, entry := range conditions[1:] {
		entry.(tree)["status"] = "False"
	}
	if diff := cmp.Diff(hub, withoutMark(convert.ToHub(older))); diff != "" {
		t.Errorf("stored status (-was +is):\n%s", diff)
	}
	status["phase"] = "Failed"
	if got := at(convert.ToHub(older), "status")["phase"]; got != "Failed" {
		t.Errorf("phase %v", got)
	}
}

func withoutMark(object tree) tree {
	result := withoutData(object)
	delete(at(result, "metadata"), "annotations")
	return result
}
