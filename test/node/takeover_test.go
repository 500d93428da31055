//go:build node

package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// takeOver is a cluster that changes from the operator for v1alpha1 to this operator, back to the operator for
// v1alpha1, and to this operator again.
type takeOver struct {
	*scenario
	older   predecessor
	ours    []byte
	started time.Time
	// running contains the UIDs of the pods that must not be replaced, for each stack.
	running map[string][]string
	// made contains the UIDs of the objects that were created for the stacks.
	made map[string]types.UID
}

// predecessor is the operator for v1alpha1.
type predecessor interface {
	// install installs the operator and its CustomResourceDefinition.
	install(t testing.TB) error
	// act writes the operator's objects for the stacks, or waits until the operator has written them.
	act(s *scenario)
	// back checks the pods after this operator has been replaced with the operator for v1alpha1.
	back(run *takeOver)
}

// This operator takes over a cluster with running stacks of the operator for v1alpha1. The pods are not replaced, and
// their data is preserved. The test reads and edits stacks in both versions, and drains the node. Then it installs the
// older operator again, and then this operator again. It removes this operator, checks the servers, and deletes one
// stack. Finally, it installs this operator again and deletes the remaining stacks. Only the edits and the drain
// replace pods. If the real older operator is installed again, it also replaces the pods of the edited stacks. The
// environment variable $OLDER contains the path of the older operator's binary. If it is not set, the test writes
// recorded objects of the older operator, with its field managers. The test does not run in parallel with other
// scenarios.
func TestTakeOver(t *testing.T) {
	run := newTakeOver(t)
	t.Cleanup(func() {
		if ctx := context.WithoutCancel(t.Context()); t.Failed() { // the other scenarios need this operator
			err := errors.Join(uninstall(ctx, run.ours), install(ctx, run.ours))
			t.Log("the operator was installed again: ", err)
		}
	})
	run.begin()
	run.readBothVersions()
	run.edit()
	run.drain()
	run.turnBack()
	run.older.back(run)
	run.installOurs()
	run.same("this operator was installed again")
	run.withoutOperator()
	run.delete()
}

// newTakeOver returns a cluster without an operator.
func newTakeOver(t *testing.T) *takeOver {
	t.Helper()
	run := &takeOver{
		scenario: &scenario{t: t}, older: predecessorOf(t), ours: currentManifest(t), started: time.Now(),
		running: map[string][]string{}, made: map[string]types.UID{},
	}
	if err := uninstall(t.Context(), run.ours); err != nil {
		t.Fatal(err)
	}
	return run
}

// begin installs the older operator, creates stacks, and replaces the operator with this one.
func (run *takeOver) begin() {
	run.t.Helper()
	if err := run.older.install(run.t); err != nil {
		run.t.Fatal(err)
	}
	run.scenario = newScenario(run.t)
	// Pods of v1alpha1 stacks have the older operator's security context, which the restricted standard does not allow.
	run.kubectl("label", "namespace", run.namespace, "pod-security.kubernetes.io/enforce=baseline", "--overwrite")
	run.make()
	run.installOurs()
	run.same("this operator was installed over the older operator")
}

// make creates the stacks with the older operator, and writes data to a volume.
func (run *takeOver) make() {
	run.t.Helper()
	run.apply(manifest(run.t, olderStacks(run.t)))
	run.older.act(run.scenario)
	for _, stack := range takenOver {
		run.allReady(stack, replicasOf(stack))
		run.running[stack] = run.uids(stack)
	}
	for child, made := range run.children() {
		run.made[child] = made.UID
	}
	run.exec("storage", "echo kept >/home/lls/.lls/data")
	run.say("the operator for v1alpha1 created the stacks")
}

func replicasOf(stack string) int {
	switch stack {
	case "pdb-min":
		return 3
	case "autoscaling":
		return 2
	default:
		return 1
	}
}

func (run *takeOver) uids(stack string) []string {
	run.t.Helper()
	return slices.Sorted(maps.Keys(run.deployed(stack).Pods))
}

// exec runs a shell command in a stack's pod.
func (run *takeOver) exec(stack, line string) string {
	run.t.Helper()
	return run.kubectl("exec", "deployment/"+names.Deployment(stack), "--", "/bin/sh", "-c", line)
}

// say logs the pods of each stack after a step, and the number of restarts of each pod.
func (run *takeOver) say(step string) {
	run.t.Helper()
	run.t.Logf("step, %.0f s: %s", time.Since(run.started).Seconds(), step)
	for _, stack := range takenOver {
		var text strings.Builder
		pods := run.deployed(stack).Pods
		for _, pod := range slices.Sorted(maps.Keys(pods)) {
			uid, _, _ := strings.Cut(pod, " ")
			fmt.Fprintf(&text, " %s (%d restarts)", uid, pods[pod])
		}
		run.t.Logf("step:   %-16s%s", stack, text.String())
	}
}

// same checks that no pod was replaced or restarted, that no object was created again, and that the data still exists.
func (run *takeOver) same(step string) {
	run.t.Helper()
	for _, stack := range takenOver {
		pods := run.deployed(stack).Pods
		if diff := cmp.Diff(run.running[stack], slices.Sorted(maps.Keys(pods))); diff != "" {
			run.t.Errorf("%s: pods of %s (-want +got):\n%s", step, stack, diff)
		}
		for pod, restarts := range pods {
			if restarts > 0 {
				run.t.Errorf("%s: pod %s of %s was restarted", step, pod, stack)
			}
		}
	}
	children := run.children()
	for child, uid := range run.made {
		if now := children[child].UID; now != uid {
			run.t.Errorf("%s: %s is %q, was %q", step, child, now, uid)
		}
	}
	run.hasData(step)
	run.say(step)
}

func (run *takeOver) hasData(step string) {
	run.t.Helper()
	if got := run.exec("storage", "read -r text </home/lls/.lls/data; echo $text"); got != "kept\n" {
		run.t.Errorf("%s: the volume contains %q", step, got)
	}
}

// installOurs applies the manifest of this operator over the older installation, and waits until each stack has been
// reconciled.
func (run *takeOver) installOurs() {
	run.t.Helper()
	if err := install(run.t.Context(), run.ours); err != nil {
		run.t.Fatal(err)
	}
	for _, stack := range takenOver {
		run.operatedBy(stack, operatorTag)
		run.ready(stack)
	}
	run.eventually(func() error {
		stored, err := kubectl(run.t.Context(), nil, "get", "crd", names.CustomResourceDefinition, "--output=jsonpath={.status.storedVersions}")
		if err == nil && stored != `["v1alpha2"]` {
			err = fmt.Errorf("stacks are stored in %s", stored)
		}
		return err
	})
}

func (run *takeOver) readBothVersions() {
	run.t.Helper()
	for _, kind := range []string{inV1alpha1, inV1alpha2} {
		if listed := strings.Fields(run.kubectl("get", kind, "--output=name")); len(listed) != len(takenOver) {
			run.t.Errorf("%s are %q", kind, listed)
		}
	}
	for kind, path := range map[string]string{
		inV1alpha1: ".spec.server.storage.mountPath",
		inV1alpha2: ".spec.workload.storage.mountPath",
	} {
		if got := run.kubectl("get", kind, "storage", "--output=jsonpath={"+path+"}"); got != "/home/lls/.lls" {
			run.t.Errorf("%s of %s is %q", path, kind, got)
		}
	}
}

// edit changes one stack in v1alpha1 and one stack in v1alpha2. Only the pods of these stacks are replaced.
func (run *takeOver) edit() {
	run.t.Helper()
	edits := []struct{ kind, stack, patch string }{
		{inV1alpha1, "user-config", `[{"op":"add","path":"/spec/server/containerSpec/env/-","value":{"name":"EDITED","value":"yes"}}]`},
		{inV1alpha2, "storage", `[{"op":"add","path":"/spec/workload/overrides","value":{"env":[{"name":"EDITED","value":"yes"}]}}]`},
	}
	for _, edit := range edits {
		run.kubectl("patch", edit.kind, edit.stack, "--type=json", "--patch="+edit.patch)
	}
	for _, edit := range edits {
		before := podUIDs(run.running[edit.stack])
		run.allReady(edit.stack, len(before), before...)
		run.ready(edit.stack)
		run.running[edit.stack] = run.uids(edit.stack)
		if got := run.exec(edit.stack, "echo $EDITED"); got != "yes\n" {
			run.t.Errorf("%s did not get the edit in %s: %q", edit.stack, edit.kind, got)
		}
	}
	run.same("an edit in each version")
}

// podUIDs returns the UIDs of the pods in a list whose entries also contain the name of a container.
func podUIDs(running []string) []string {
	var uids []string
	for _, each := range running {
		uid, _, _ := strings.Cut(each, " ")
		uids = append(uids, uid)
	}
	return uids
}

// drain evicts every pod of the stacks and of the operator, and waits for disruption budgets, like `kubectl drain`. The
// node remains schedulable, because there is no other node.
func (run *takeOver) drain() {
	run.t.Helper()
	left := operatorPods(run.t)
	for _, stack := range takenOver {
		pods, err := run.pods(stack)
		if err != nil {
			run.t.Fatal(err)
		}
		left = append(left, pods...)
	}
	run.eventually(func() error {
		left = slices.DeleteFunc(left, func(pod corev1.Pod) bool { return run.evicts(&pod) })
		if len(left) > 0 {
			return fmt.Errorf("a disruption budget prevents the eviction of pod %s and of %d other pods", left[0].Name, len(left)-1)
		}
		return nil
	})
	for _, stack := range takenOver {
		before := podUIDs(run.running[stack])
		run.allReady(stack, len(before), before...)
		run.running[stack] = run.uids(stack)
	}
	run.eventually(func() error { _, err := leader(run.t); return err })
	run.same("the node was drained")
}

// evicts tries to evict a pod, and reports whether the pod is being deleted. A disruption budget can prevent the
// eviction at first. The test fails if the API server can never evict the pod, for example because two budgets select
// it.
func (run *takeOver) evicts(pod *corev1.Pod) bool {
	run.t.Helper()
	err := cluster.SubResource("eviction").Create(run.t.Context(), pod, &policyv1.Eviction{})
	if err != nil && !apierrors.IsTooManyRequests(err) && !apierrors.IsNotFound(err) {
		run.t.Fatalf("evict pod %s: %v", pod.Name, err)
	}
	return !apierrors.IsTooManyRequests(err)
}

// turnBack follows the page "Go back to the operator for v1alpha1".
func (run *takeOver) turnBack() {
	run.t.Helper()
	var said bytes.Buffer
	streams := cli.Streams{In: strings.NewReader(""), Out: &said, Err: &said}
	if code := cli.Run(streams, operatorTag, []string{"migrate", "--storage", "v1alpha1"}); code != 0 {
		run.t.Fatalf("the command migrate ends with exit code %d:\n%s", code, said.String())
	}
	run.kubectl("delete", "deployment", operatorDeployment, "--namespace="+names.OperatorNamespace)
	run.kubectl("delete", "validatingadmissionpolicybinding,validatingadmissionpolicy", names.CustomResourceDefinition)
	run.kubectl("delete", "validatingwebhookconfiguration", "llama-stack-k8s-operator-validating-webhook-configuration", "--ignore-not-found")
	run.kubectl("replace", "--filename="+definitionBefore)
	run.eventually(func() error {
		listed, err := kubectl(run.t.Context(), nil, "get", inV1alpha1, "--namespace="+run.namespace, "--output=name")
		if err == nil && len(strings.Fields(listed)) != len(takenOver) {
			err = fmt.Errorf("stacks %q", listed)
		}
		return err
	})
	run.same("the older definition is installed again")
	if err := run.older.install(run.t); err != nil {
		run.t.Fatal(err)
	}
}

// withoutOperator removes the operator, and checks that the servers still respond, and that a deleted stack is removed
// with all its objects.
func (run *takeOver) withoutOperator() {
	run.t.Helper()
	run.kubectl("delete", "deployment", operatorDeployment, "--namespace="+names.OperatorNamespace)
	run.eventually(func() error {
		if left := operatorPods(run.t); len(left) > 0 {
			return fmt.Errorf("pod %s of the operator still exists", left[0].Name)
		}
		return nil
	})
	c := run.client()
	for _, stack := range takenOver {
		var health map[string]any
		c.ask(run.service(stack)+"/v1/health", &health)
	}
	run.same("without an operator")
	run.kubectl("delete", "llsd", "storage", "--timeout=60s")
	run.noPods("storage")
	run.eventually(func() error {
		for child := range run.children() {
			if _, name, _ := strings.Cut(child, " "); name == "storage" || strings.HasPrefix(name, "storage-") {
				return fmt.Errorf("%s still exists", child)
			}
		}
		return nil
	})
}

// delete installs the operator again, and deletes the remaining stacks.
func (run *takeOver) delete() {
	run.t.Helper()
	if err := install(run.t.Context(), run.ours); err != nil {
		run.t.Fatal(err)
	}
	run.kubectl("delete", "llsd", "--all", "--timeout=60s")
	for _, stack := range takenOver {
		run.noPods(stack)
	}
	run.eventually(func() error {
		if left := slices.Sorted(maps.Keys(run.children())); len(left) > 0 {
			return fmt.Errorf("%q still exist", left)
		}
		return nil
	})
	run.t.Logf("step, %.0f s: all objects are deleted", time.Since(run.started).Seconds())
}
