package webhook

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/process"
)

// afterLoss is the time limit within which clients must be able to read both versions again. The time begins when new
// replicas start after all replicas were killed.
const afterLoss = 30 * time.Second

// The test begins with a cluster that contains the definition and the stacks of the previous operator. It installs this
// operator, makes changes in both versions, kills all replicas, restores the older definition, and installs this
// operator again. Each part continues with the result of the previous part.
func TestUpgradeAndBack(t *testing.T) {
	c := startCluster(t)
	stored := c.storeOlder(t)
	c.Install(t)

	// Until the operator runs, the API server cannot convert stacks. Its error message contains the name of the Service
	// that is not available.
	if _, err := c.list(t, v1alpha2.GroupVersion.Version); err == nil ||
		!strings.Contains(err.Error(), names.WebhookService) {
		t.Errorf("a list without an operator: %v, want an error with the name of Service %q", err, names.WebhookService)
	}
	replicas := c.startReplicas(t)
	testutil.Within(t, patience, func() error { return c.bothLists(t, len(stored)) })
	c.waitForStorage(t, v1alpha2.GroupVersion.Version)
	for _, o := range replicas {
		testutil.Within(t, patience, func() error { return validates(o) }) // including the replica that is not the leader
	}
	c.sameSpecs(t, stored)
	c.editsOfBothVersions(t)

	for _, o := range replicas {
		o.Kill(t)
	}
	c.Publish(t)
	c.withoutOperator(t, len(stored))
	lost := time.Now()
	replicas = c.startReplicas(t)
	testutil.Within(t, afterLoss-time.Since(lost), func() error { return c.bothLists(t, len(stored)+1) })

	c.turnBack(t, stored)
	for _, o := range replicas {
		o.Kill(t)
	}
	c.Publish(t)
	c.forthAgain(t)
}

// waitForStorage waits until every object is stored in the given version.
func (c *cluster) waitForStorage(t testing.TB, version string) {
	t.Helper()
	testutil.Within(t, patience, func() error {
		if got := c.storedVersions(t); !slices.Equal(got, []string{version}) {
			return fmt.Errorf("objects are stored in %q, want %q", got, version)
		}
		return nil
	})
}

// sameSpecs compares each stack, read as v1alpha1, with its stored form.
func (c *cluster) sameSpecs(t *testing.T, stored []unstructured.Unstructured) {
	t.Helper()
	items, err := c.list(t, v1alpha1.GroupVersion.Version)
	testutil.Must(t, err)
	now := map[string]unstructured.Unstructured{}
	for _, item := range items {
		now[item.GetName()] = item
	}
	for _, before := range stored {
		got, ok := now[before.GetName()]
		if !ok {
			t.Errorf("stack %q no longer exists", before.GetName())
			continue
		}
		if diff := cmp.Diff(before.Object["spec"], got.Object["spec"]); diff != "" {
			t.Errorf("the spec of %q (-before +now):\n%s", before.GetName(), diff)
		}
		if got.GetUID() != before.GetUID() {
			t.Errorf("%q: uid %s, before %s", before.GetName(), got.GetUID(), before.GetUID())
		}
		if edited := got.GetName() == "minimal"; !edited && got.GetGeneration() != before.GetGeneration() {
			t.Errorf("%q: generation %d, before %d", before.GetName(), got.GetGeneration(), before.GetGeneration())
		}
	}
}

func (c *cluster) get(t testing.TB, version, name string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(v1alpha2.GroupVersion.Group + "/" + version)
	object.SetKind(v1alpha2.Kind)
	testutil.Must(t, c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: name}, object))
	return object
}

// edit changes a stack in the given version with a merge patch.
func (c *cluster) edit(t testing.TB, version, name, patch string, options ...client.PatchOption) error {
	t.Helper()
	object := c.get(t, version, name)
	return c.Patch(t.Context(), object, client.RawPatch(types.MergePatchType, []byte(patch)), options...)
}

// editsOfBothVersions changes a field in each version, and reads it in the other version.
func (c *cluster) editsOfBothVersions(t *testing.T) {
	t.Helper()
	replicas := map[string][]string{
		v1alpha1.GroupVersion.Version: {"spec", "replicas"},
		v1alpha2.GroupVersion.Version: {"spec", "workload", "replicas"},
	}
	edits := []struct{ in, patch string }{
		{v1alpha1.GroupVersion.Version, `{"spec":{"replicas":2}}`},
		{v1alpha2.GroupVersion.Version, `{"spec":{"workload":{"replicas":3}}}`},
	}
	for i, edit := range edits {
		if err := c.edit(t, edit.in, "minimal", edit.patch); err != nil {
			t.Errorf("edit in %s: %v", edit.in, err)
		}
		for version, path := range replicas {
			got, _, err := unstructured.NestedInt64(c.get(t, version, "minimal").Object, path...)
			if want := int64(i + 2); err != nil || got != want {
				t.Errorf("there are %d replicas in %s after an edit in %s, want %d: %v", got, version, edit.in, want, err)
			}
		}
	}
	if err := c.edit(t, v1alpha1.GroupVersion.Version, "minimal", `{"spec":{"replicas":1}}`); err != nil {
		t.Errorf("edit back: %v", err)
	}
	// The webhook has two seconds to respond. Its message contains the field names of the version in which the user
	// wrote the stack.
	testutil.Within(t, patience, func() error {
		err := c.edit(t, v1alpha1.GroupVersion.Version, "minimal", `{"spec":{"server":{"distribution":{"name":"startr"}}}}`, client.DryRunAll)
		if err == nil || !strings.Contains(err.Error(), "spec.server.distribution.name") ||
			!strings.Contains(err.Error(), "starter;") {
			return fmt.Errorf("the error for an unknown distribution is %w", err)
		}
		return nil
	})
}

// withoutOperator reads and writes stacks in v1alpha2 while no replica responds. All objects are stored in v1alpha2, so
// no conversion is necessary.
func (c *cluster) withoutOperator(t *testing.T, stored int) {
	t.Helper()
	items, err := c.list(t, v1alpha2.GroupVersion.Version)
	if err != nil || len(items) != stored {
		t.Errorf("a list without an operator returns %d of %d stacks: %v", len(items), stored, err)
	}
	created := &v1alpha2.LlamaStackDistribution{}
	created.Namespace, created.Name = "default", "made-meanwhile"
	created.Spec.Distribution.Name = "starter"
	if err := c.Create(t.Context(), created); err != nil {
		t.Errorf("create a stack without an operator: %v", err)
	}
	if err := c.edit(t, v1alpha2.GroupVersion.Version, created.Name, `{"spec":{"workload":{"replicas":0}}}`); err != nil {
		t.Errorf("edit a stack without an operator: %v", err)
	}
	if _, err := c.list(t, v1alpha1.GroupVersion.Version); err == nil ||
		!strings.Contains(err.Error(), names.WebhookService) {
		t.Errorf("a list in v1alpha1 without an operator: %v, want an error with the name of Service %q", err, names.WebhookService)
	}
}

// turnBack migrates the objects back to v1alpha1, and installs the older definition.
func (c *cluster) turnBack(t *testing.T, stored []unstructured.Unstructured) {
	t.Helper()
	if output, err := c.Kubectl(t, "replace", "-f", process.DefinitionBefore()); err == nil {
		t.Errorf("the older definition was accepted while objects are stored in v1alpha2:\n%s", output)
	}
	migrate := exec.CommandContext(t.Context(), testutil.BuildCommandLine(t, process.Version), "migrate",
		"--storage", v1alpha1.GroupVersion.Version, "--kubeconfig", c.Kubeconfig)
	if output, err := migrate.CombinedOutput(); err != nil {
		t.Fatalf("migrate: %v\n%s", err, output)
	}
	if got := c.storedVersions(t); !slices.Equal(got, []string{v1alpha1.GroupVersion.Version}) {
		t.Errorf("objects are stored in %q", got)
	}
	c.MustKubectl(t, "replace", "-f", process.DefinitionBefore())
	c.sameSpecs(t, stored)
}
