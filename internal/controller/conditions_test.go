package controller_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/cli-utils/pkg/kstatus/status"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// picture is a stack's state at one moment, as users and tools see it.
type picture struct {
	Phase v1alpha2.Phase
	// Conditions holds the status and reason of each condition, by type.
	Conditions map[string]string
	// Tools is the stack's state for tools that use kstatus.
	Tools status.Status
}

func (b *bench) picture(t *testing.T, name string) picture {
	t.Helper()
	live := &unstructured.Unstructured{}
	live.SetGroupVersionKind(v1alpha2.GroupVersionKind)
	b.get(t, name, live)
	computed, err := status.Compute(live)
	if err != nil {
		t.Fatal(err)
	}
	stack := &v1alpha2.LlamaStackDistribution{}
	b.get(t, name, stack)
	seen := picture{Phase: stack.Status.Phase, Conditions: map[string]string{}, Tools: computed.Status}
	for _, condition := range stack.Status.Conditions {
		seen.Conditions[condition.Type] = string(condition.Status) + " " + condition.Reason
		if condition.ObservedGeneration != stack.Generation {
			seen.Conditions[condition.Type] += " of an older generation"
		}
	}
	return seen
}

// shows waits until a stack is in the wanted state.
func (b *bench) shows(t *testing.T, name string, want picture) {
	t.Helper()
	eventually(t, func() error {
		if diff := cmp.Diff(want, b.picture(t, name)); diff != "" {
			return fmt.Errorf("stack %s (-want +got):\n%s", name, diff)
		}
		return nil
	})
}

// with returns the conditions with some replaced. An empty value removes a condition.
func with(conditions map[string]string, others ...string) map[string]string {
	changed := maps.Clone(conditions)
	for i := 0; i < len(others); i += 2 {
		if changed[others[i]] = others[i+1]; others[i+1] == "" {
			delete(changed, others[i])
		}
	}
	return changed
}

// kubectlWait runs kubectl wait on the stack with a short timeout.
func (b *bench) kubectlWait(t *testing.T, name, condition string) (string, error) {
	t.Helper()
	data, err := plane.Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	config := filepath.Join(t.TempDir(), "kubeconfig")
	if err := os.WriteFile(config, data, 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	command := exec.CommandContext(t.Context(), testutil.Kubectl(), "--kubeconfig", config, "--namespace", b.namespace,
		"wait", "--for=condition="+condition, "--timeout=1s", "llsd/"+name)
	command.Stdout, command.Stderr = &out, &out
	err = command.Run()
	return out.String(), err
}

// waits checks for which conditions kubectl wait succeeds.
func (b *bench) waits(t *testing.T, name string, want map[string]bool) {
	t.Helper()
	for condition, goesOn := range want {
		if out, err := b.kubectlWait(t, name, condition); (err == nil) != goesOn {
			t.Errorf("kubectl wait for %s: %s (error %v), want it to go on: %t", condition, out, err, goesOn)
		}
	}
}

const (
	ready     = v1alpha2.ConditionReady
	available = v1alpha2.ConditionAvailable
)

// inForce holds the conditions of a stack whose children are applied and whose pods are starting.
var inForce = map[string]string{
	ready:                                 "False " + v1alpha2.ReasonRolloutInProgress,
	v1alpha2.ConditionValidationSucceeded: "True " + v1alpha2.ReasonSpecValid,
	v1alpha2.ConditionSecretsResolved:     "True " + v1alpha2.ReasonNoSecretsReferenced,
	v1alpha2.ConditionConfigGenerated:     "True " + v1alpha2.ReasonConfigGenerationSucceeded,
	v1alpha2.ConditionDeploymentUpdated:   "True " + v1alpha2.ReasonDeploymentUpdateSucceeded,
	available:                             "False " + v1alpha2.ReasonRolloutInProgress,
	v1alpha2.ConditionReconciling:         "True " + v1alpha2.ReasonRolloutInProgress,
}

// served holds the conditions of a stack that is in its desired state.
var served = with(inForce,
	ready, "True "+v1alpha2.ReasonMinimumReplicasAvailable,
	available, "True "+v1alpha2.ReasonMinimumReplicasAvailable,
	v1alpha2.ConditionReconciling, "",
)

// TestConditionsOfALife checks the state of a stack, as users, kubectl wait and tools that use kstatus see it, from its
// creation to its deletion.
func TestConditionsOfALife(t *testing.T) {
	b := newBench(t)
	b.direct(t, "life")
	stack := b.stack(t, "my", `{distribution: {name: starter}, resources: {models: [m], shields: [guard]}}`)
	stack.Finalizers = []string{"example.com/somebody-else"}
	b.create(t, stack)
	b.shows(t, "my", picture{v1alpha2.PhaseInitializing, inForce, status.InProgressStatus})
	b.waits(t, "my", map[string]bool{ready: false, available: false})

	b.rollOut(t, "my")
	b.shows(t, "my", picture{v1alpha2.PhaseReady, served, status.CurrentStatus})
	b.waits(t, "my", map[string]bool{ready: true, available: true})

	// A release that does not support the spec leaves the running pods unchanged.
	b.change(t, "my", func(stack *v1alpha2.LlamaStackDistribution) { stack.Spec.Distribution.Version = "1.0" })
	waiting := "Unknown " + v1alpha2.ReasonWaiting
	failed := "False " + v1alpha2.ReasonUpgradeConfigFailure
	b.shows(t, "my", picture{v1alpha2.PhaseFailed, with(served,
		ready, failed, v1alpha2.ConditionConfigGenerated, failed, v1alpha2.ConditionDeploymentUpdated, waiting,
		v1alpha2.ConditionStalled, "True "+v1alpha2.ReasonUpgradeConfigFailure), status.FailedStatus})
	b.waits(t, "my", map[string]bool{ready: false, available: true})

	b.change(t, "my", func(stack *v1alpha2.LlamaStackDistribution) {
		stack.Spec.Distribution.Version = ""
		stack.Spec.Workload.Replicas = new(int32(0))
	})
	b.condition(t, "my", ready, v1alpha2.ReasonRolloutInProgress)
	b.rollOut(t, "my")
	zero := "True " + v1alpha2.ReasonScaledToZero
	b.shows(t, "my", picture{v1alpha2.PhaseReady, with(served, ready, zero, available, zero), status.CurrentStatus})
	b.waits(t, "my", map[string]bool{ready: true, available: true})

	b.get(t, "my", stack)
	if err := b.Delete(t.Context(), stack); err != nil {
		t.Fatal(err)
	}
	eventually(t, func() error {
		if seen := b.picture(t, "my"); seen.Phase != v1alpha2.PhaseTerminating || seen.Tools != status.TerminatingStatus {
			return fmt.Errorf("phase %s, for tools %s", seen.Phase, seen.Tools)
		}
		return nil
	})
	b.change(t, "my", func(stack *v1alpha2.LlamaStackDistribution) { stack.Finalizers = nil })
	for _, reason := range []string{
		v1alpha2.EventConfigGenerated, v1alpha2.EventDeploymentUpdated,
		v1alpha2.EventConfigGenerationFailed,
	} {
		if got := b.reasons(t); !strings.Contains(got, reason) {
			t.Errorf("events %q, want %s among them", got, reason)
		}
	}
}

// TestConditionsOfARollback checks that a Deployment that was rolled back stays so, and that tools do not see it as in
// progress.
func TestConditionsOfARollback(t *testing.T) {
	b := newBench(t)
	b.direct(t, "rollback")
	b.create(t, b.stack(t, "my", `{distribution: {name: starter}, resources: {models: [m]}}`))
	b.condition(t, "my", ready, v1alpha2.ReasonRolloutInProgress)
	before := &appsv1.Deployment{}
	b.get(t, "my", before)
	set := b.replicaSet(t, "my", appsv1.ReplicaSetStatus{})
	b.change(t, "my", func(stack *v1alpha2.LlamaStackDistribution) { stack.Spec.Workload.Workers = new(int32(2)) })
	b.condition(t, "my", ready, v1alpha2.ReasonRolloutInProgress)
	// The Deployment controller numbers the revisions of an undo like this.
	set.Annotations["deployment.kubernetes.io/revision"], set.Annotations["deployment.kubernetes.io/revision-history"] = "3", "1"
	if err := b.Update(t.Context(), set); err != nil {
		t.Fatal(err)
	}
	// A real Deployment controller has updated the revisions long before a user rolls back. Here the operator may see
	// the Deployment first, take the change for an edit, and correct it.
	eventually(t, func() error {
		undone := &appsv1.Deployment{}
		b.get(t, "my", undone)
		undone.Spec.Template = before.Spec.Template
		if err := b.Update(t.Context(), undone); err != nil {
			return err
		}
		stack := &v1alpha2.LlamaStackDistribution{}
		b.get(t, "my", stack)
		if found := meta.FindStatusCondition(stack.Status.Conditions, v1alpha2.ConditionDegraded); found == nil ||
			found.Reason != v1alpha2.ReasonRolledBack {
			return fmt.Errorf("not rolled back in %v", stack.Status.Conditions)
		}
		return nil
	})
	b.rollOut(t, "my")
	b.shows(t, "my", picture{v1alpha2.PhaseFailed, with(served, ready, "False "+v1alpha2.ReasonRolledBack,
		v1alpha2.ConditionDegraded, "True "+v1alpha2.ReasonRolledBack, v1alpha2.ConditionStalled, "True "+v1alpha2.ReasonRolledBack), status.FailedStatus})
	eventually(t, func() error {
		if got := b.reasons(t); !strings.Contains(got, v1alpha2.EventRolledBack) {
			return fmt.Errorf("events %q", got)
		}
		return nil
	})
}

// TestConditionsOfStorage checks the conditions for a volume that is lost, and for one that is pending.
func TestConditionsOfStorage(t *testing.T) {
	b := newBench(t)
	b.direct(t, "storage")
	b.create(t, b.stack(t, "my", `{distribution: {name: starter}, workload: {storage: {size: 1Gi}}}`))
	b.condition(t, "my", v1alpha2.ConditionStorageReady, v1alpha2.ReasonStorageReady)
	claim := &corev1.PersistentVolumeClaim{}
	b.get(t, "my-pvc", claim)
	told := metav1.NewTime(time.Now().Truncate(time.Second))
	for i, event := range []corev1.Event{
		{
			Type: corev1.EventTypeWarning, Reason: "ProvisioningFailed", Message: "an older trouble",
			LastTimestamp: metav1.NewTime(told.Add(-time.Minute)),
		},
		{
			Type: corev1.EventTypeNormal, Reason: "WaitForFirstConsumer", Message: "waiting for first consumer",
			LastTimestamp: metav1.NewTime(told.Add(time.Minute)),
		},
		{Type: corev1.EventTypeWarning, Reason: "ProvisioningFailed", Message: `storageclass.storage.k8s.io "fast" not found`, LastTimestamp: told},
	} {
		event.Name = fmt.Sprintf("my-pvc.%d", i)
		event.InvolvedObject = corev1.ObjectReference{
			APIVersion: "v1", Kind: "PersistentVolumeClaim", Namespace: b.namespace, Name: claim.Name, UID: claim.UID,
		}
		b.create(t, &event)
	}
	eventually(t, func() error {
		return b.says(t, "my", available, v1alpha2.ReasonRolloutInProgress, "0/1 replicas available with current config: "+
			`PersistentVolumeClaim "my-pvc" has no volume: storageclass.storage.k8s.io "fast" not found`)
	})
	claim.Status.Phase = corev1.ClaimLost
	if err := b.Status().Update(t.Context(), claim); err != nil {
		t.Fatal(err)
	}
	b.condition(t, "my", v1alpha2.ConditionStorageReady, v1alpha2.ReasonStorageLost)
	b.condition(t, "my", ready, v1alpha2.ReasonStorageLost)
}

// TestEventOfAnAdoption checks that an object that has our labels and no controller is adopted, and that an event
// reports it.
func TestEventOfAnAdoption(t *testing.T) {
	b := newBench(t)
	b.create(t, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Name: "my-sa", Labels: names.ChildSelector("my")}})
	b.direct(t, "adoption")
	b.create(t, b.stack(t, "my", `{distribution: {name: starter}}`))
	eventually(t, func() error {
		if got := b.reasons(t); !strings.Contains(got, v1alpha2.EventAdopted) {
			return fmt.Errorf("events %q", got)
		}
		return nil
	})
}

// denied answers requests for Secrets like an API server on which the permissions were removed.
type denied struct{ next http.RoundTripper }

func (d denied) RoundTrip(request *http.Request) (*http.Response, error) {
	if request.Method != http.MethodGet || !strings.HasSuffix(request.URL.Path, "/secrets/vllm-creds") {
		return d.next.RoundTrip(request)
	}
	body := `{"kind":"Status","apiVersion":"v1","status":"Failure","reason":"Forbidden","code":403,"message":"secrets \"vllm-creds\" is forbidden: a test"}`
	return &http.Response{
		StatusCode: http.StatusForbidden, Header: http.Header{"Content-Type": {"application/json"}},
		Body: io.NopCloser(strings.NewReader(body)), Request: request,
	}, nil
}

// TestConditionsOfADefect checks that an unexpected error is shown as a defect and is retried.
func TestConditionsOfADefect(t *testing.T) {
	b := newBench(t)
	b.create(t, secret("vllm-creds", "token", "sk-abc"))
	b.direct(t, "defect", func(next http.RoundTripper) http.RoundTripper { return denied{next} })
	b.create(t, b.stack(t, "my", fullSpec))
	condition := b.condition(t, "my", v1alpha2.ConditionSecretsResolved, v1alpha2.ReasonInternalError)
	if !strings.Contains(condition.Message, `secrets "vllm-creds" is forbidden: a test`) {
		t.Errorf("message %s", condition.Message)
	}
	if seen := b.picture(t, "my"); seen.Phase != v1alpha2.PhasePending || seen.Tools != status.InProgressStatus {
		t.Errorf("phase %s, for tools %s", seen.Phase, seen.Tools)
	}
}

// TestConditionsOfAFailure checks the conditions of a stack whose pods never ran.
func TestConditionsOfAFailure(t *testing.T) {
	b := newBench(t)
	b.direct(t, "failure")
	waiting := "Unknown " + v1alpha2.ReasonWaiting
	notYet := with(inForce,
		v1alpha2.ConditionDeploymentUpdated, waiting, available, waiting, v1alpha2.ConditionReconciling, "")
	for _, tc := range []struct {
		name, spec, reason string
		conditions         map[string]string
	}{
		{
			"no-such-provider", `{distribution: {name: starter}, providers: {inference: {provider: vlm}}}`, v1alpha2.ReasonConfigGenerationFailed,
			with(notYet, v1alpha2.ConditionConfigGenerated, "False "+v1alpha2.ReasonConfigGenerationFailed),
		},
		{
			"one-variable-of-two-ids", `
distribution: {name: starter}
providers:
  inference:
  - {id: a-b, provider: vllm, endpoint: "http://a", apiKey: {secretKeyRef: {name: one, key: token}}}
  - {id: a.b, provider: vllm, endpoint: "http://b", apiKey: {secretKeyRef: {name: two, key: token}}}
`, v1alpha2.ReasonInvalidSpec,
			with(notYet, v1alpha2.ConditionValidationSucceeded, "False "+v1alpha2.ReasonInvalidSpec,
				v1alpha2.ConditionSecretsResolved, waiting, v1alpha2.ConditionConfigGenerated, waiting),
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			b.create(t, b.stack(t, tc.name, tc.spec))
			b.shows(t, tc.name, picture{v1alpha2.PhaseFailed, with(tc.conditions,
				ready, "False "+tc.reason, v1alpha2.ConditionStalled, "True "+tc.reason), status.FailedStatus})
			b.waits(t, tc.name, map[string]bool{ready: false, available: false, v1alpha2.ConditionStalled: true})
		})
	}
	eventually(t, func() error {
		if got := b.reasons(t); got != v1alpha2.EventConfigGenerationFailed {
			return fmt.Errorf("events %q", got)
		}
		return nil
	})
}

// TestConditionsPastTheDeadline checks that tools see a roll-out past its deadline as a failure, as they do for a
// Deployment, until the roll-out completes.
func TestConditionsPastTheDeadline(t *testing.T) {
	b := newBench(t)
	b.direct(t, "deadline")
	b.create(t, b.stack(t, "my", `{distribution: {name: starter}, resources: {models: [m]}}`))
	b.condition(t, "my", ready, v1alpha2.ReasonRolloutInProgress)
	b.progress(t, "my", "ProgressDeadlineExceeded")
	failed := "False " + v1alpha2.ReasonRolloutFailed
	b.shows(t, "my", picture{
		v1alpha2.PhaseFailed, with(inForce, ready, failed, available, failed,
			v1alpha2.ConditionReconciling, "", v1alpha2.ConditionStalled, "True "+v1alpha2.ReasonRolloutFailed),
		status.FailedStatus,
	})
	b.rollOut(t, "my")
	b.shows(t, "my", picture{v1alpha2.PhaseReady, served, status.CurrentStatus})
}

// change updates the current version of a stack.
func (b *bench) change(t *testing.T, name string, change func(*v1alpha2.LlamaStackDistribution)) {
	t.Helper()
	eventually(t, func() error {
		stack := &v1alpha2.LlamaStackDistribution{}
		b.get(t, name, stack)
		change(stack)
		return b.Update(t.Context(), stack)
	})
}
