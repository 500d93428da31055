package contract

import (
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/process"
)

// The test creates the manifests on a real API server, first with the CustomResourceDefinition of the previous
// operator, and then with this operator and its webhooks. The API server must accept and reject the same stacks, and
// each stack must have the same meaning in both versions. The objects must be the same, except for the differences in
// the table.
func TestOnARealAPIServer(t *testing.T) {
	c := live{process.StartCluster(t, testutil.Options{})}
	trials := readTrials(t)
	c.InstallOlder(t)
	for _, one := range trials {
		c.prepare(t, one)
		c.askBefore(t, one)
	}
	c.upgrade(t)
	table := readTable(t)
	for _, folder := range []string{"cases", "real"} {
		c.configure(t, folder)
		var admitted []*trial
		for _, one := range trials {
			if filepath.Dir(one.name) == folder && c.admits(t, one) {
				admitted = append(admitted, one)
			}
		}
		for _, one := range admitted {
			t.Run(one.name, func(t *testing.T) {
				c.gives(t, one, table)
				c.converts(t, one)
			})
		}
	}
}

// readTrials reads all manifests, in the order of their names. It omits the published manifests if they are not
// available.
func readTrials(t *testing.T) []*trial {
	t.Helper()
	files := map[string]string{}
	for name, pair := range pairs(t) {
		files[name] = pair.manifest
	}
	if havePublished(t) {
		for _, file := range unpaired(t) {
			files["real/"+strings.TrimSuffix(filepath.Base(file), ".yaml")] = file
		}
	}
	var trials []*trial
	for _, name := range slices.Sorted(maps.Keys(files)) {
		trials = append(trials, readTrial(t, name, files[name]))
	}
	return trials
}

// refusals contains the API server's messages for the published manifests that it rejects. With the
// CustomResourceDefinition of the previous operator, the API server rejects all these manifests, too. Some of them are
// written for a different proposal for v1alpha2, and contain unknown fields.
var refusals = map[string]string{
	"real/19-llsmcp-integer-env":                  "spec.server.containerSpec.env[6].value in body must be of type string",
	"real/27-rhoai-docs-pgvector-no-distribution": "spec.server.distribution: Required value",
	"real/36-v1alpha2-pr253-ha":                   `unknown field "spec.workload.autoscaling.targetCPUUtilizationPercentage"`,
	"real/37-v1alpha2-pr253-vllm-postgres":        `unknown field "spec.storage.sql.connectionString.name"`,
	"real/38-v1alpha2-pr253-networking":           `spec.networking.allowedFrom.namespaces[0]: Invalid value: "nsA"`,
	"real/39-v1alpha2-spec-quickstart-production": `unknown field "spec.workload.autoscaling.targetCPUUtilizationPercentage"`,
	"real/40-claims-containerspec-image":          "spec.server.distribution: Required value",
}

// admits creates the stacks of a trial, and reports whether the API server accepts them. The result must be the same as
// with the CustomResourceDefinition of the previous operator.
func (c live) admits(t *testing.T, one *trial) bool {
	t.Helper()
	var refused error
	for _, stack := range one.stacks {
		made := stack.DeepCopy()
		validation := metav1.FieldValidationWarn
		if made.GetAPIVersion() == v1alpha2.GroupVersion.String() {
			validation = metav1.FieldValidationStrict
		}
		refused = errors.Join(refused, client.WithFieldValidation(c.Client,
			client.FieldValidation(validation)).Create(t.Context(), made))
		c.own(t, one, made)
	}
	want := refusals[one.name]
	if (refused == nil) != (one.refused == nil) || (refused == nil) != (want == "") || refused != nil &&
		!strings.Contains(refused.Error(), want) {
		t.Errorf("%s: before %v, now %v, want %q", one.name, one.refused, refused, want)
	}
	return refused == nil
}

// own sets the manifest's stack as the owner of the manifest's ConfigMaps, as the dashboard does. It does this only for
// the manifest from the dashboard.
func (c live) own(t *testing.T, one *trial, stack *unstructured.Unstructured) {
	t.Helper()
	if one.name != "real/06-odh-dashboard-playground" {
		return
	}
	for _, object := range one.configMaps {
		owned := object.DeepCopy()
		owner := metav1.NewControllerRef(stack, stack.GroupVersionKind())
		owned.SetOwnerReferences([]metav1.OwnerReference{*owner})
		testutil.Must(t, c.Update(t.Context(), owned))
	}
}

// gives compares the objects of a trial with the objects that the previous operator created.
func (c live) gives(t *testing.T, one *trial, table table) {
	t.Helper()
	file, ok := pairs(t)[one.name]
	if !ok {
		return
	}
	data := golden.Read(t, file.today)
	today, err := documents(data)
	testutil.Must(t, err)
	testutil.Within(t, process.Patience, func() error {
		if err := c.settled(t, one); err != nil {
			return err
		}
		var undeclared []string
		for _, d := range compare(one.name, stacks(t, file.manifest), today, c.children(t, one)) {
			taken := d.Ours == absent && d.Path == "" && strings.HasPrefix(d.Object, "Ingress ") && c.hostTaken(t, one)
			if !taken && !table.declares(d) {
				undeclared = append(undeclared, fmt.Sprintf("%s %s: today %q, ours %q", d.Object, d.Path, d.Today, d.Ours))
			}
		}
		if len(undeclared) > 0 {
			return fmt.Errorf("not in testdata/differences.yaml:\n%s", strings.Join(undeclared, "\n"))
		}
		return nil
	})
}

// settled returns an error until the operator has applied the objects of a trial.
func (c live) settled(t *testing.T, one *trial) error {
	t.Helper()
	for _, stack := range one.stacks {
		now := &v1alpha2.LlamaStackDistribution{}
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(stack), now); err != nil {
			return fmt.Errorf("read the stack: %w", err)
		}
		updated := meta.FindStatusCondition(now.Status.Conditions, v1alpha2.ConditionDeploymentUpdated)
		if updated == nil || updated.Status != metav1.ConditionTrue {
			return fmt.Errorf("%q is not applied: %+v", stack.GetName(), now.Status)
		}
	}
	for _, object := range one.configMaps {
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(object), object.DeepCopy()); err != nil {
			return fmt.Errorf("a ConfigMap of the manifest: %w", err)
		}
	}
	return nil
}

// hostTaken reports whether another stack has the host of a trial. Only one stack of a cluster can be exposed without a
// host name.
func (c live) hostTaken(t *testing.T, one *trial) bool {
	t.Helper()
	return slices.ContainsFunc(one.stacks, func(stack *unstructured.Unstructured) bool {
		now := &v1alpha2.LlamaStackDistribution{}
		testutil.Must(t, c.Get(t.Context(), client.ObjectKeyFromObject(stack), now))
		exposed := meta.FindStatusCondition(now.Status.Conditions, v1alpha2.ConditionExposed)
		return exposed != nil && exposed.Reason == v1alpha2.ReasonHostnameTaken
	})
}

// nullIsNothing makes a comparison ignore null values, because the schema determines whether an API server preserves
// them.
var nullIsNothing = cmpopts.IgnoreMapEntries(func(_ string, value any) bool { return value == nil })

// converts reads each stack of a trial in both versions, and writes it back in the newer version.
func (c live) converts(t *testing.T, one *trial) {
	t.Helper()
	for _, stack := range one.stacks {
		before := c.read(t, stack, v1alpha1.GroupVersion.Version)
		if diff := cmp.Diff(one.before[stack.GetName()].Object["spec"], before.Object["spec"], nullIsNothing); diff != "" {
			t.Errorf("the spec of %q (-before +now):\n%s", stack.GetName(), diff)
		}
		newer := c.read(t, stack, v1alpha2.GroupVersion.Version)
		if err := c.Update(t.Context(), newer); err != nil {
			t.Errorf("write %q back in v1alpha2: %v", stack.GetName(), err)
		}
		after := c.read(t, stack, v1alpha1.GroupVersion.Version)
		if diff := cmp.Diff(before.Object["spec"], after.Object["spec"]); diff != "" || after.GetGeneration() != 1 {
			t.Errorf("%q, generation %d (-read +written back):\n%s", stack.GetName(), after.GetGeneration(), diff)
		}
	}
}

func (c live) read(t *testing.T, stack *unstructured.Unstructured, version string) *unstructured.Unstructured {
	t.Helper()
	object := &unstructured.Unstructured{}
	object.SetAPIVersion(v1alpha2.GroupVersion.Group + "/" + version)
	object.SetKind(v1alpha2.Kind)
	testutil.Must(t, c.Get(t.Context(), client.ObjectKeyFromObject(stack), object))
	return object
}
