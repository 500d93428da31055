package cli_test

import (
	"fmt"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/upgrade"
)

// Applying a converted manifest creates the same object as the conversion by the API server, in both directions.
func TestConvertAsTheAPIServer(t *testing.T) {
	c := upgrade.Start(t)
	c.Install(t, upgrade.Today(t, upgrade.StartWebhook(t)))
	files := fixtures(t)
	for _, folder := range []string{"comments", "providers", "attributes", "left-out", "back", "back-made-here"} {
		files = append(files, "testdata/convert/"+folder+"/in.yaml")
	}
	made := 0
	read := func(object *unstructured.Unstructured) map[string]any {
		t.Helper()
		made++
		object.SetName(fmt.Sprintf("stack-%d", made))
		object.SetNamespace("default")
		// As with kubectl --validate=false, the API server drops the fields that no version has.
		testutil.Must(t, c.Create(t.Context(), object, client.FieldValidation(metav1.FieldValidationIgnore)))
		stored := &unstructured.Unstructured{}
		stored.SetGroupVersionKind(v1alpha2.GroupVersion.WithKind(v1alpha2.Kind))
		testutil.Must(t, c.Get(t.Context(), client.ObjectKeyFromObject(object), stored))
		return map[string]any{
			"annotations": stored.GetAnnotations(), "labels": stored.GetLabels(),
			"spec": stored.Object["spec"],
		}
	}
	for _, file := range files {
		data := golden.Read(t, file)
		before := onlyStack(t, string(data))
		to := "v1alpha2"
		if before.GroupVersionKind().Version == to {
			to = "v1alpha1"
		}
		got := run(t, string(data), "convert", "-f", "-", "--to", to)
		if diff := cmp.Diff(read(before), read(onlyStack(t, got.out))); diff != "" {
			t.Errorf("%s: the stored objects differ (-converted by the API server +converted by the command):\n%s", file, diff)
		}
	}
	checkApplyConverted(t, c)
}

// checkApplyConverted follows docs/how-to/migrate-from-v1alpha1.md: applying the converted manifest in place of the
// original changes nothing.
func checkApplyConverted(t *testing.T, c *upgrade.Cluster) {
	t.Helper()
	t.Setenv("KUBECONFIG", c.Kubeconfig)
	apply := func(manifest string) (generation int64, spec any) {
		t.Helper()
		command := exec.CommandContext(t.Context(), testutil.Kubectl(), "apply", "-n", "default", "-f", "-")
		command.Stdin = strings.NewReader(manifest)
		if out, err := command.CombinedOutput(); err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		stored := c.Stacks(t, "v1alpha2")["default/demo"]
		return stored.GetGeneration(), stored.Object["spec"]
	}
	old := older(`{replicas: 2, network: {exposeRoute: true}, server: {distribution: {name: starter}, containerSpec: {port: 9000}, storage: {size: 5Gi}}}`)
	before, was := apply(old)
	after, is := apply(run(t, old, "convert", "-f", "-").out)
	if diff := cmp.Diff(was, is); diff != "" || after != before {
		t.Errorf("generation %d, was %d; spec (-was +is):\n%s", after, before, diff)
	}
}

// onlyStack returns the only stack in a manifest.
func onlyStack(t *testing.T, manifest string) *unstructured.Unstructured {
	t.Helper()
	for text := range strings.SplitSeq(manifest, "\n---\n") {
		object := &unstructured.Unstructured{}
		testutil.Must(t, yaml.Unmarshal([]byte(text), &object.Object))
		if object.GetKind() == v1alpha2.Kind {
			return object
		}
	}
	t.Fatalf("no stack in\n%s", manifest)
	return nil
}
