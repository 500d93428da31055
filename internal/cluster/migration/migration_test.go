package migration_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/migration"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/upgrade"
)

// quick makes a migration run almost without delays. This is safe because AwaitStorage has already waited for the only
// API server.
var quick = migration.Options{Rate: 1000, Settle: time.Millisecond}

func newMigrator(c client.Client, options migration.Options) *migration.Migrator {
	return migration.New(c, names.CustomResourceDefinition, options)
}

// mustRun migrates, and fails the test unless every object is migrated.
func mustRun(t *testing.T, m *migration.Migrator, want migration.Progress) {
	t.Helper()
	result, err := m.Run(t.Context())
	testutil.Must(t, err)
	if diff := cmp.Diff(want, result.Progress); diff != "" || !result.Complete {
		t.Fatalf("complete %v, failed %v, progress (-want +got):\n%s", result.Complete, result.FailedObjects(), diff)
	}
}

func checkStored(t *testing.T, c *upgrade.Cluster, versions map[string]int, listed ...string) {
	t.Helper()
	if diff := cmp.Diff(versions, upgrade.Versions(c.Stored(t))); diff != "" {
		t.Errorf("stored in etcd (-want +got):\n%s", diff)
	}
	if got := c.Definition(t).Status.StoredVersions; !slices.Equal(got, listed) {
		t.Errorf("stored versions are %q, want %q", got, listed)
	}
}

// checkWrittenOnce checks that every object was written exactly once between the reads that returned `before` and
// `after`.
func checkWrittenOnce(t *testing.T, before, after map[string]upgrade.Stored) {
	t.Helper()
	if len(before) != len(after) {
		t.Errorf("%d objects, were %d", len(after), len(before))
	}
	for name, stored := range after {
		if writes := stored.Writes - before[name].Writes; writes != 1 {
			t.Errorf("%s was written %d times, want once", name, writes)
		}
	}
}

// checkSame checks that all fields of the objects are unchanged, except for the resource versions, which must differ.
func checkSame(t *testing.T, before, after map[string]*unstructured.Unstructured) {
	t.Helper()
	for name, object := range after {
		was, now := before[name].DeepCopy(), object.DeepCopy()
		if was.GetResourceVersion() == now.GetResourceVersion() {
			t.Errorf("%s has the same resource version as before", name)
		}
		was.SetResourceVersion("")
		now.SetResourceVersion("")
		if diff := cmp.Diff(was.Object, now.Object); diff != "" {
			t.Errorf("%s (-before +now):\n%s", name, diff)
		}
	}
	if len(before) != len(after) {
		t.Errorf("%d objects, were %d", len(after), len(before))
	}
}

// Migrating a hundred of the previous operator's stacks to v1alpha2 and back does not change any field of these stacks.
func TestThereAndBack(t *testing.T) {
	const count = 100
	c := upgrade.Start(t)
	webhook := upgrade.StartWebhook(t)
	older, today := upgrade.Older(t), upgrade.Today(t, webhook)
	c.Install(t, older)
	c.MakeStacks(t, count)
	born := c.Stacks(t, "v1alpha1")
	checkStored(t, c, map[string]int{"v1alpha1": count}, "v1alpha1")

	c.Install(t, today)
	first, second := c.Stacks(t, "v1alpha1"), c.Stacks(t, "v1alpha2")
	stored := c.Stored(t)
	checkStored(t, c, map[string]int{"v1alpha1": count}, "v1alpha1", "v1alpha2")
	m := newMigrator(c, quick)
	converted := webhook.Converted.Load()
	mustRun(t, m, migration.Progress{Version: "v1alpha2", Objects: count, Migrated: count, Rewritten: count})
	t.Logf("%d conversions for %d objects", webhook.Converted.Load()-converted, count)
	checkStored(t, c, map[string]int{"v1alpha2": count}, "v1alpha2")
	checkWrittenOnce(t, stored, c.Stored(t))
	checkSame(t, first, c.Stacks(t, "v1alpha1"))
	checkSame(t, second, c.Stacks(t, "v1alpha2"))
	mustRun(t, m, migration.Progress{Version: "v1alpha2"}) // no object needs to be written

	if err := c.Replace(t.Context(), older); !apierrors.IsInvalid(err) {
		t.Errorf("previous definition before the migration: got %v, want an error", err)
	}
	if changed, err := m.SetStorageVersion(t.Context(), "v1alpha1"); err != nil || !changed {
		t.Fatalf("change of the storage version back: %v, %v", changed, err)
	}
	if changed, err := m.SetStorageVersion(t.Context(), "v1alpha1"); err != nil || changed {
		t.Errorf("second change of the storage version back: %v, %v", changed, err)
	}
	c.AwaitStorage(t)
	if err := c.Replace(t.Context(), older); !apierrors.IsInvalid(err) {
		t.Errorf("previous definition with objects in v1alpha2: got %v, want an error", err)
	}
	stored = c.Stored(t)
	mustRun(t, m, migration.Progress{Version: "v1alpha1", Objects: count, Migrated: count, Rewritten: count})
	checkStored(t, c, map[string]int{"v1alpha1": count}, "v1alpha1")
	checkWrittenOnce(t, stored, c.Stored(t))
	checkSame(t, first, c.Stacks(t, "v1alpha1"))
	checkSame(t, second, c.Stacks(t, "v1alpha2"))

	c.Install(t, older)
	checkSame(t, born, c.Stacks(t, "v1alpha1"))
}

// obstructed is the number of stacks in TestObstacles.
const obstructed = 30

var bothVersions = []string{"v1alpha1", "v1alpha2"}

// obstacles is the cluster of TestObstacles. Each scenario continues with the state of the previous scenario.
type obstacles struct {
	*upgrade.Cluster
	webhook *upgrade.Webhook
}

// A run that ends early leaves the list of stored versions unchanged, and the next run continues. Objects that cannot
// be migrated are reported and skipped.
func TestObstacles(t *testing.T) {
	c := upgrade.Start(t)
	o := obstacles{Cluster: c, webhook: upgrade.StartWebhook(t)}
	c.Install(t, upgrade.Older(t))
	c.MakeStacks(t, obstructed)
	o.webhook.Down.Store(true)
	c.Install(t, upgrade.Today(t, o.webhook))

	t.Run("the webhook is down", o.webhookIsDown)
	o.webhook.Down.Store(false)
	t.Run("the run is canceled", o.runIsEnded)
	t.Run("the webhook goes down during the run", o.webhookGoesDown)
	o.webhook.Down.Store(false)
	t.Run("an object is rejected", o.objectIsRejected)
	t.Run("the definition changes during the run", o.definitionChanges)
	t.Run("objects are deleted during the run", o.objectsAreGone)
	t.Run("the webhook is down afterwards", o.webhookIsDownAfterwards)
}

func (o obstacles) webhookIsDown(t *testing.T) {
	// Without this limit, client-go would wait for the caches of the API server.
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if result, err := newMigrator(o.Cluster, quick).Run(ctx); err == nil {
		t.Errorf("no error, but %+v", result)
	}
	checkStored(t, o.Cluster, map[string]int{"v1alpha1": obstructed}, bothVersions...)
}

func (o obstacles) runIsEnded(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	options := quick
	options.Observe = func(now migration.Progress) {
		if now.Migrated == 10 {
			cancel()
		}
	}
	result, err := newMigrator(o.Cluster, options).Run(ctx)
	if !errors.Is(err, context.Canceled) || result.Rewritten != 10 {
		t.Errorf("%+v, %v", result, err)
	}
	checkStored(t, o.Cluster, map[string]int{"v1alpha1": obstructed - 10, "v1alpha2": 10}, bothVersions...)
}

func (o obstacles) webhookGoesDown(t *testing.T) {
	options := quick
	options.Observe = func(now migration.Progress) { o.webhook.Down.Store(now.Rewritten == 5) }
	result, err := newMigrator(o.Cluster, options).Run(t.Context())
	if err == nil || !strings.Contains(err.Error(), "conversion webhook") {
		t.Errorf("%+v, %v", result, err)
	}
	checkStored(t, o.Cluster, map[string]int{"v1alpha1": obstructed - 15, "v1alpha2": 15}, bothVersions...)
}

func (o obstacles) objectIsRejected(t *testing.T) {
	policy, binding := refusal("stack-020")
	for _, object := range []client.Object{policy, binding} {
		testutil.Must(t, o.Create(t.Context(), object))
	}
	m := newMigrator(o.Cluster, quick)
	testutil.Eventually(t, "the policy to be in force", func() (bool, error) {
		_, result, err := m.Try(t.Context(), "v1alpha2")
		return result.Failed == 1, err
	})
	result, err := m.Run(t.Context())
	if err != nil || result.Complete || result.Migrated != obstructed-1 || result.Failed != 1 {
		t.Errorf("%+v, %v", result, err)
	}
	if got := result.FailedObjects(); len(got) != 1 || !strings.HasPrefix(got[0], "team-2/stack-020: ") ||
		!strings.Contains(got[0], "not this one") {
		t.Errorf("failed: %q", got)
	}
	checkStored(t, o.Cluster, map[string]int{"v1alpha1": 1, "v1alpha2": obstructed - 1}, bothVersions...)
	testutil.Must(t, o.Delete(t.Context(), binding))
	testutil.Eventually(t, "the policy to be deleted", func() (bool, error) {
		_, result, err := m.Try(t.Context(), "v1alpha2")
		return result.Failed == 0, err
	})
}

func (o obstacles) definitionChanges(t *testing.T) {
	options := quick
	options.Observe = func(now migration.Progress) {
		if now.Migrated > 0 {
			return
		}
		for _, version := range []string{"v1alpha1", "v1alpha2"} {
			if _, err := newMigrator(o.Cluster, quick).SetStorageVersion(t.Context(), version); err != nil {
				t.Error(err)
			}
		}
	}
	if result, err := newMigrator(o.Cluster, options).Run(t.Context()); !errors.Is(err, migration.ErrChanged) {
		t.Errorf("%+v, %v", result, err)
	}
	if got := o.Definition(t).Status.StoredVersions; len(got) != 2 {
		t.Errorf("stored versions are %q, want both", got)
	}
	o.AwaitStorage(t)
}

func (o obstacles) objectsAreGone(t *testing.T) {
	options := quick
	options.Observe = func(now migration.Progress) {
		if now.Migrated > 0 {
			return
		}
		for _, name := range []string{"stack-001", "stack-004"} {
			stack := o.Stacks(t, "v1alpha2")["team-1/"+name]
			if err := o.Delete(t.Context(), stack); err != nil {
				t.Error(err)
			}
		}
	}
	result, err := newMigrator(o.Cluster, options).Run(t.Context())
	if err != nil || !result.Complete || result.Migrated != obstructed {
		t.Errorf("%+v, %v", result, err)
	}
	checkStored(t, o.Cluster, map[string]int{"v1alpha2": obstructed - 2}, "v1alpha2")
}

func (o obstacles) webhookIsDownAfterwards(t *testing.T) {
	o.webhook.Down.Store(true)
	for name, stack := range o.Stacks(t, "v1alpha2") {
		if err := o.Patch(t.Context(), stack, client.RawPatch(types.MergePatchType,
			[]byte(`{"metadata":{"labels":{"a":"b"}}}`))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if err := o.Status().Patch(t.Context(), stack, client.RawPatch(types.MergePatchType,
			[]byte(`{"status":{"phase":"Pending"}}`))); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// refusal returns a policy that denies updates to the stacks with this name, and its binding.
func refusal(name string) (*admissionv1.ValidatingAdmissionPolicy, *admissionv1.ValidatingAdmissionPolicyBinding) {
	policy := &admissionv1.ValidatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "refusal"}}
	equivalent := admissionv1.Equivalent
	policy.Spec.MatchConstraints = &admissionv1.MatchResources{
		MatchPolicy: &equivalent,
		ResourceRules: []admissionv1.NamedRuleWithOperations{{
			RuleWithOperations: admissionv1.RuleWithOperations{
				Operations: []admissionv1.OperationType{admissionv1.Update},
				Rule: admissionv1.Rule{
					APIGroups: []string{"llamastack.io"}, APIVersions: []string{"v1alpha2"},
					Resources: []string{"llamastackdistributions"},
				},
			},
		}},
	}
	policy.Spec.Validations = []admissionv1.Validation{{
		Expression: "object.metadata.name != '" + name + "'",
		Message:    "not this one",
	}}
	binding := &admissionv1.ValidatingAdmissionPolicyBinding{ObjectMeta: metav1.ObjectMeta{Name: "refusal"}}
	binding.Spec = admissionv1.ValidatingAdmissionPolicyBindingSpec{
		PolicyName: policy.Name, ValidationActions: []admissionv1.ValidationAction{admissionv1.Deny},
	}
	return policy, binding
}

func TestVersionsThatCannotBeStored(t *testing.T) {
	c := upgrade.Start(t)
	m := newMigrator(c, quick)
	if _, err := m.Run(t.Context()); !apierrors.IsNotFound(err) {
		t.Errorf("without a definition: %v", err)
	}
	c.Install(t, upgrade.Older(t))
	const want = `the CustomResourceDefinition serves only v1alpha1, and not "v1alpha2"; ` +
		`apply this operator's CustomResourceDefinition`
	if _, err := m.SetStorageVersion(t.Context(), "v1alpha2"); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
	if _, _, err := m.Try(t.Context(), "v1alpha2"); err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}

	// If there were no webhook, the API server would store v1alpha2 objects without the fields of v1alpha1.
	c.MakeStacks(t, 2)
	today := upgrade.Today(t, upgrade.StartWebhook(t))
	today.Spec.Conversion = nil
	c.Install(t, today)
	const lossy = "the CustomResourceDefinition has no conversion webhook, so objects would lose the fields " +
		"that exist only in the other version; install the operator with its webhooks first"
	if _, err := m.Run(t.Context()); err == nil || err.Error() != lossy {
		t.Errorf("got %v, want %s", err, lossy)
	}
	if _, err := m.SetStorageVersion(t.Context(), "v1alpha1"); err == nil || err.Error() != lossy {
		t.Errorf("got %v, want %s", err, lossy)
	}
	checkStored(t, c, map[string]int{"v1alpha1": 2}, "v1alpha1", "v1alpha2")
}
