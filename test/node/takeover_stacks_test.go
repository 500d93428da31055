//go:build node

package node

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// ownImage is the name of the stack with a custom image and command.
const ownImage = "command-and-args"

// takenOver lists the names of manifests in test/contract with stacks of the operator for v1alpha1: a plain stack with
// a budget, and stacks with a volume, a configuration, workers, exposure, an autoscaler, and a custom image and
// command.
var takenOver = []string{"pdb-min", "storage", "user-config", "workers", "expose", "autoscaling", ownImage}

// The operator for v1alpha1 creates each object with the name of its binary as the field manager, and then applies it
// with the name of the stack as the field manager.
const olderManager = "manager"

var (
	older1      = filepath.Join(testutil.Root(), "test", "contract", "testdata")
	enough      = map[string]any{"cpu": "50m", "memory": "64Mi"}
	environment = []any{
		// The operator for v1alpha1 starts the server through a launcher, which uses the image's Python interpreter.
		map[string]any{"name": "PATH", "value": "/python:/bin"},
		map[string]any{"name": "VLLM_URL", "value": "http://vllm:8000/v1"},
	}
)

// olderStacks returns the stacks and the objects to which they refer. The resource requests of the stacks are lower
// than those of a real server.
func olderStacks(t testing.TB) []*unstructured.Unstructured {
	t.Helper()
	var stacks []*unstructured.Unstructured
	for _, name := range takenOver {
		objects, err := testutil.ReadObjects(filepath.Join(older1, "cases", name+".yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, object := range objects {
			if object.GetKind() == v1alpha2.Kind {
				server := object.Object["spec"].(map[string]any)["server"].(map[string]any)
				container := server["containerSpec"].(map[string]any)
				container["resources"] = map[string]any{"requests": enough}
				switch name {
				case "user-config":
					container["env"] = environment
				case ownImage:
					server["distribution"] = map[string]any{"image": standIn(defaultRelease)}
					container["command"], container["args"] = []any{"/standin"}, []any{"--insecure"}
				}
			}
			stacks = append(stacks, object)
		}
	}
	return stacks
}

func manifest(t testing.TB, objects []*unstructured.Unstructured) string {
	t.Helper()
	var text []byte
	for _, object := range objects {
		one, err := yaml.Marshal(object.Object)
		if err != nil {
			t.Fatal(err)
		}
		text = append(append(text, "---\n"...), one...)
	}
	return string(text)
}

// recorded replaces the operator for v1alpha1. It writes a status and the objects that were recorded for the same
// manifests, with the image of the stand-in.
func (s *scenario) recorded(stacks []*unstructured.Unstructured) {
	s.t.Helper()
	for _, stack := range stacks {
		if stack.GetKind() != v1alpha2.Kind {
			continue
		}
		found := s.older(stack.GetName())
		objects, err := testutil.ReadObjects(filepath.Join(older1, "today", stack.GetName()+".yaml"))
		if err != nil {
			s.t.Fatal(err)
		}
		for _, object := range objects {
			object.SetNamespace(s.namespace)
			if object.GetKind() == "Deployment" {
				adaptRecorded(object, stack)
			}
			if err := s.writeRecorded(found, object); err != nil {
				s.t.Fatalf("%s %s: %v", object.GetKind(), object.GetName(), err)
			}
		}
		if err := writeOlderStatus(s, found); err != nil {
			s.t.Fatal(err)
		}
	}
}

// older returns a stack as a v1alpha1 object.
func (s *scenario) older(name string) *unstructured.Unstructured {
	s.t.Helper()
	found := &unstructured.Unstructured{}
	found.SetAPIVersion("llamastack.io/v1alpha1")
	found.SetKind(v1alpha2.Kind)
	if err := s.get(name, found); err != nil {
		s.t.Fatal(err)
	}
	return found
}

// adaptRecorded adapts a recorded Deployment to the stack's fields in this test, and sets a startup probe with short
// intervals.
func adaptRecorded(deployment, stack *unstructured.Unstructured) {
	server := stack.Object["spec"].(map[string]any)["server"].(map[string]any)
	asked := server["containerSpec"].(map[string]any)
	if server["autoscaling"] != nil { // the recorded number of replicas is the API server's default
		unstructured.RemoveNestedField(deployment.Object, "spec", "replicas")
	}
	containers, _, _ := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "containers")
	container := containers[0].(map[string]any)
	container["image"] = standIn(defaultRelease)
	for amount := range container["resources"].(map[string]any) { // a stack with workers has limits
		container["resources"].(map[string]any)[amount] = enough
	}
	if added, ok := asked["env"].([]any); ok {
		container["env"] = append(container["env"].([]any), added...)
	}
	switch command, ok := asked["command"]; {
	case ok:
		container["command"], container["args"] = command, asked["args"]
	case container["command"] != nil:
		container["command"] = []any{
			"/bin/sh", "-c",
			`exec uvicorn llama_stack.core.server.server:create_app --host 0.0.0.0 --port "$LLS_PORT" --workers "$LLS_WORKERS" --factory`,
		}
	}
	probe := container["startupProbe"].(map[string]any)
	probe["initialDelaySeconds"], probe["periodSeconds"], probe["failureThreshold"] = int64(1), int64(1), int64(60)
	_ = unstructured.SetNestedSlice(deployment.Object, containers, "spec", "template", "spec", "containers")
}

// writeRecorded creates an object if it does not exist. Then it applies the object as the operator for v1alpha1 does at
// each reconcile: without an owner. It does not apply a PersistentVolumeClaim.
func (s *scenario) writeRecorded(stack, object *unstructured.Unstructured) error {
	created := object.DeepCopy()
	owner := created.GetOwnerReferences()
	owner[0].UID = stack.GetUID()
	created.SetOwnerReferences(owner)
	err := cluster.Create(s.t.Context(), created, client.FieldOwner(olderManager))
	if object.GetKind() == "PersistentVolumeClaim" || client.IgnoreAlreadyExists(err) != nil {
		return client.IgnoreAlreadyExists(err)
	}
	applied := object.DeepCopy()
	applied.SetOwnerReferences(nil)
	return cluster.Apply(s.t.Context(), client.ApplyConfigurationFromUnstructured(applied),
		client.FieldOwner(stack.GetName()), client.ForceOwnership)
}

func writeOlderStatus(s *scenario, stack *unstructured.Unstructured) error {
	now := time.Now().UTC().Format(time.RFC3339)
	stack.Object["status"] = map[string]any{
		"phase":      "Ready",
		"serviceURL": fmt.Sprintf("http://%s.%s.svc.cluster.local:8321", names.Service(stack.GetName()), s.namespace),
		"version": map[string]any{
			"operatorVersion": "0.9.0", "llamaStackServerVersion": defaultRelease,
			"lastUpdated": now,
		},
		"distributionConfig": map[string]any{
			"activeDistribution": "starter", "availableDistributions": map[string]any{"starter": standIn(defaultRelease)},
		},
		"conditions": []any{map[string]any{
			"type": "DeploymentReady", "status": "True", "reason": "DeploymentReady", "message": "Deployment is ready",
			"lastTransitionTime": now,
		}},
	}
	return cluster.Status().Update(s.t.Context(), stack, client.FieldOwner(olderManager))
}
