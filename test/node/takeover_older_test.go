//go:build node

package node

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/test/node/image"
)

// olderVariable is the environment variable with the path of the v1alpha1 operator's binary: bin/manager in its work
// tree.
const olderVariable = "OLDER"

var definitionBefore = filepath.Join(testutil.Root(), "test", "api", "testdata", "definition-before.yaml")

// edited lists the stacks in takenOver that the test edits.
var edited = []string{"user-config", "storage"}

func predecessorOf(t testing.TB) predecessor {
	t.Helper()
	if program := os.Getenv(olderVariable); program != "" {
		return &olderProgram{file: program}
	}
	t.Logf("$%s is not set, so the test uses the recorded objects", olderVariable)
	return recordedOperator{}
}

// recordedOperator is an installation of the older operator whose container does nothing. The test writes the recorded
// objects instead.
type recordedOperator struct{}

func (recordedOperator) install(t testing.TB) error {
	t.Helper()
	if _, err := kubectl(t.Context(), nil, "apply", "--server-side", "--filename="+definitionBefore); err != nil {
		return err
	}
	objects, err := testutil.ReadObjects(filepath.Join(testutil.Root(), "test", "installed", "testdata", "older.yaml"))
	if err != nil {
		return err
	}
	return installOlder(t, objects, map[string]any{
		"image": standIn(defaultRelease), "command": []any{"/standin"},
		"args": []any{"idle"},
	})
}

func (recordedOperator) act(s *scenario) { s.recorded(olderStacks(s.t)) }

// The older operator applies the objects of each stack again. The test omits the edited stacks, because the objects
// that the older operator renders for them were not recorded.
func (recordedOperator) back(run *takeOver) {
	stacks := slices.DeleteFunc(olderStacks(run.t),
		func(object *unstructured.Unstructured) bool { return slices.Contains(edited, object.GetName()) })
	run.recorded(stacks)
	run.same("applied again by the older operator")
}

// installOlder applies the objects of an older installation with these fields in its container, and waits until it is
// available.
func installOlder(t testing.TB, objects []*unstructured.Unstructured, container map[string]any) error {
	t.Helper()
	for _, object := range objects {
		if object.GetKind() != "Deployment" {
			continue
		}
		containers, _, err := unstructured.NestedSlice(object.Object, "spec", "template", "spec", "containers")
		if err != nil || len(containers) != 1 {
			return fmt.Errorf("the older Deployment has %d containers (%w)", len(containers), err)
		}
		maps.Copy(containers[0].(map[string]any), container)
		if err := unstructured.SetNestedSlice(object.Object, containers, "spec", "template", "spec",
			"containers"); err != nil {
			return err
		}
	}
	if err := configureOlder(t); err != nil {
		return err
	}
	return install(t.Context(), []byte(manifest(t, objects)))
}

// configureOlder writes the ConfigMap that both operators read, in the form that the older operator uses.
func configureOlder(t testing.TB) error {
	t.Helper()
	namespace := &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": names.OperatorNamespace},
	}}
	config := operatorConfig()
	config.Object["data"].(map[string]any)["featureFlags"] = "enableNetworkPolicy: {enabled: true}\n"
	_, err := kubectl(t.Context(), []byte(manifest(t, []*unstructured.Unstructured{namespace, config})),
		"apply", "--server-side", "--force-conflicts", "--field-manager="+olderManager, "--filename=-")
	return err
}

// olderProgram is the real older operator. Its binary runs in an image that the test builds.
type olderProgram struct {
	file      string
	pushed    bool
	installed time.Time
}

func (o *olderProgram) install(t testing.TB) error {
	t.Helper()
	root := filepath.Dir(filepath.Dir(o.file))
	if !o.pushed {
		built, err := image.OlderOperator(t.Context(), o.file, filepath.Join(root, "controllers", "manifests"), t.TempDir())
		if err != nil {
			return err
		}
		if err := image.Push(t.Context(), operatorImage(pushRegistry(), "v1alpha1"), built); err != nil {
			return err
		}
		o.pushed = true
	}
	objects, err := testutil.ReadObjects(filepath.Join(root, "release", "operator.yaml"))
	if err != nil {
		return err
	}
	o.installed = time.Now().Truncate(time.Second)
	return installOlder(t, objects, map[string]any{"image": operatorImage(registry, "v1alpha1")})
}

// act waits until the program has created and applied every Deployment.
func (o *olderProgram) act(s *scenario) {
	s.t.Helper()
	for _, stack := range takenOver {
		s.eventually(func() error {
			found := &metav1.PartialObjectMetadata{}
			found.SetGroupVersionKind(appsv1.SchemeGroupVersion.WithKind("Deployment"))
			if err := s.get(names.Deployment(stack), found); err != nil {
				return err
			}
			if !slices.ContainsFunc(found.ManagedFields,
				func(entry metav1.ManagedFieldsEntry) bool { return entry.Manager == stack }) {
				return errors.New(stack + " is not yet applied")
			}
			return nil
		})
	}
}

// The older operator writes the status of each stack. For the stacks that changed under this operator, it also replaces
// the pods once.
func (o *olderProgram) back(run *takeOver) {
	for _, stack := range takenOver {
		run.eventually(func() error {
			written, _, _ := unstructured.NestedString(run.scenario.older(stack).Object, "status", "version", "lastUpdated")
			if at, err := time.Parse(time.RFC3339, written); err == nil && at.After(o.installed) {
				return nil
			}
			return errors.New("the older operator has not written the status of " + stack)
		})
	}
	for _, stack := range edited {
		run.kubectl("rollout", "status", "deployment/"+names.Deployment(stack), "--timeout=180s")
		run.allReady(stack, 1)
		run.running[stack] = run.uids(stack)
	}
	run.same("acted on by the older operator")
}
