package controller_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	kstatus "sigs.k8s.io/cli-utils/pkg/kstatus/status"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// filed is a stack whose pods stop before others start, and that stores its data in files.
const filed = `{distribution: {name: starter}, workload: {storage: {size: 1Gi}}}`

// changed is filed with another configuration.
const changed = `{distribution: {name: starter}, resources: {models: [llama]}, workload: {storage: {size: 1Gi}}}`

// serving creates a stack whose pods serve, without an operator.
func (b *bench) serving(t *testing.T, spec string) *direct {
	t.Helper()
	d := b.direct(t, b.namespace) // a version of its own distinguishes its calls
	b.serves(t, spec)
	return d
}

// serves creates a stack and waits until its pods serve.
func (b *bench) serves(t *testing.T, spec string) {
	t.Helper()
	b.create(t, b.stack(t, "my", spec))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
	b.rollOut(t, "my")
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
}

// tries returns the preflight pods.
func (b *bench) tries(t *testing.T) []corev1.Pod {
	t.Helper()
	var pods corev1.PodList
	if err := b.List(t.Context(), &pods, client.InNamespace(b.namespace), client.MatchingLabels(names.PreflightSelector("my"))); err != nil {
		t.Fatal(err)
	}
	return pods.Items
}

// try waits until there is exactly one preflight pod, which must differ from before, and returns it.
func (b *bench) try(t *testing.T, before *corev1.Pod) *corev1.Pod {
	t.Helper()
	var found corev1.Pod
	eventually(t, func() error {
		pods := b.tries(t)
		if len(pods) != 1 || before != nil && pods[0].UID == before.UID {
			return fmt.Errorf("%d pods try the change", len(pods))
		}
		found = pods[0]
		return nil
	})
	return &found
}

// noTry waits until no preflight pod is left, and none of the objects that were created for one.
func (b *bench) noTry(t *testing.T) {
	t.Helper()
	eventually(t, func() error {
		if pods := b.tries(t); len(pods) > 0 {
			return fmt.Errorf("pod %s is left", pods[0].Name)
		}
		for _, list := range []client.ObjectList{&corev1.ConfigMapList{}, &corev1.SecretList{}, &networkingv1.NetworkPolicyList{}} {
			if err := b.List(t.Context(), list, client.InNamespace(b.namespace)); err != nil {
				return err
			}
			if text := fmt.Sprint(list); strings.Contains(text, names.PreflightPrefix("my")) {
				return fmt.Errorf("%T: something is left", list)
			}
		}
		return nil
	})
}

// place assigns a pod to a node, as a scheduler does.
func (b *bench) place(t *testing.T, pod *corev1.Pod) {
	t.Helper()
	binding := &corev1.Binding{Target: corev1.ObjectReference{Kind: "Node", Name: "node-1"}}
	if err := b.SubResource("binding").Create(t.Context(), pod, binding); err != nil {
		t.Fatal(err)
	}
}

// kubelet writes the status of a pod, as a kubelet does.
func (b *bench) kubelet(t *testing.T, pod *corev1.Pod, status corev1.PodStatus) {
	t.Helper()
	eventually(t, func() error {
		b.get(t, pod.Name, pod)
		pod.Status = status
		return b.Status().Update(t.Context(), pod)
	})
}

// removes terminates pods that are deleted, as a kubelet does, for the duration of the test.
func (b *bench) removes(t *testing.T) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	t.Cleanup(func() { stop(); <-done })
	go func() {
		defer close(done)
		for tick := time.Tick(poll); ctx.Err() == nil; {
			var pods corev1.PodList
			_ = b.List(ctx, &pods, client.InNamespace(b.namespace))
			for i := range pods.Items {
				if pods.Items[i].DeletionTimestamp != nil {
					_ = b.Delete(ctx, &pods.Items[i], client.GracePeriodSeconds(0))
				}
			}
			select {
			case <-tick:
			case <-ctx.Done():
			}
		}
	}()
}

func isReady() corev1.PodStatus {
	return corev1.PodStatus{
		Phase: corev1.PodRunning,
		Conditions: []corev1.PodCondition{
			{Type: corev1.PodScheduled, Status: corev1.ConditionTrue},
			{Type: corev1.ContainersReady, Status: corev1.ConditionTrue},
			{Type: corev1.PodReady, Status: corev1.ConditionFalse, Reason: "ReadinessGatesNotReady"},
		},
		ContainerStatuses: []corev1.ContainerStatus{{Name: "llama-stack", Ready: true, State: corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}}},
	}
}

func hasEnded(code int32, message string) corev1.PodStatus {
	return corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{{
		Name: "llama-stack", State: corev1.ContainerState{Terminated: &corev1.ContainerStateTerminated{
			ExitCode: code, Message: message, StartedAt: metav1.Now(),
		}},
	}}}
}

// untouched checks that the Deployment has not changed.
func (b *bench) untouched(t *testing.T, before *appsv1.Deployment) {
	t.Helper()
	now := &appsv1.Deployment{}
	b.get(t, "my", now)
	if now.UID != before.UID || now.Generation != before.Generation || now.Annotations[names.AnnotationRendered] != before.Annotations[names.AnnotationRendered] {
		t.Errorf("the Deployment was written to: generation %d, was %d", now.Generation, before.Generation)
	}
}

// replaced waits until the Deployment has the change.
func (b *bench) replaced(t *testing.T, before *appsv1.Deployment) {
	t.Helper()
	eventually(t, func() error {
		now := &appsv1.Deployment{}
		if b.get(t, "my", now); now.Generation == before.Generation {
			return fmt.Errorf("generation %d", now.Generation)
		}
		return nil
	})
}

// told waits for an event and returns its note.
func (b *bench) told(t *testing.T, kind, reason string) string {
	t.Helper()
	var note string
	eventually(t, func() error {
		for _, event := range b.events(t) {
			if event.Type == kind && event.Reason == reason {
				note = event.Note
				return nil
			}
		}
		return fmt.Errorf("no event %s", reason)
	})
	return note
}

// TestPreflight checks that a change starts in a pod of its own before it reaches the running pods.
func TestPreflight(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serving(t, filed)
	b.removes(t)
	before := &appsv1.Deployment{}
	b.get(t, "my", before)
	b.respec(t, "my", changed)
	pod := b.try(t, nil)
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonPreflightInProgress)
	b.shows(t, "my", picture{v1alpha2.PhaseReady, b.picture(t, "my").Conditions, kstatus.InProgressStatus})
	if note := b.told(t, corev1.EventTypeNormal, v1alpha2.EventPreflightStarted); !strings.Contains(note, pod.Name) {
		t.Errorf("note %q", note)
	}
	b.place(t, pod)
	b.kubelet(t, pod, container("i", corev1.ContainerState{Running: &corev1.ContainerStateRunning{}}, corev1.ContainerState{}))
	b.settled(t, b.namespace)
	b.untouched(t, before)
	stack := &v1alpha2.LlamaStackDistribution{}
	if b.get(t, "my", stack); !metav1.IsControlledBy(pod, stack) {
		t.Error("the pod does not go with its stack")
	}

	b.kubelet(t, pod, isReady())
	b.replaced(t, before)
	b.noTry(t)
	b.condition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateSucceeded)
	b.rollOut(t, "my")
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
	b.settled(t, b.namespace)
	if pods := b.tries(t); len(pods) > 0 {
		t.Errorf("another try: %s", pods[0].Name)
	}
}

// TestPreflightFails checks that a change that does not start never reaches the running pods, and that the reason is
// reported without anything that the server printed.
func TestPreflightFails(t *testing.T) {
	t.Parallel()
	const canary = "cAnArY-3f2b"
	late := hasEnded(137, "")
	late.Reason, late.Message = "DeadlineExceeded", "Pod was active on the node longer than the specified deadline"
	for _, tc := range []struct {
		name string
		pod  corev1.PodStatus
		want string
	}{
		{"code0", hasEnded(0, ""), `container "llama-stack" ended with exit code 0: the server cannot start, or its health check did not pass in time; see kubectl logs POD -c llama-stack`},
		{"crash", hasEnded(1, "ValidationError: input_value='"+canary+"'"), `container "llama-stack" crashed with ValidationError: the server rejects its configuration; see kubectl logs POD -c llama-stack`},
		{"deadline", late, `container "llama-stack" was not ready after 15 minutes; see kubectl logs POD -c llama-stack`},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			o := b.serving(t, filed)
			b.removes(t)
			before := &appsv1.Deployment{}
			b.get(t, "my", before)
			b.respec(t, "my", changed)
			pod := b.try(t, nil)
			b.place(t, pod)
			b.kubelet(t, pod, tc.pod)
			want := fmt.Sprintf("Pod %q tries the change and does not become ready: %s. The running pods stay as they are; "+
				"change the spec or an object that it refers to, or delete the pod to try again", pod.Name, strings.ReplaceAll(tc.want, "POD", pod.Name))
			for condition, message := range map[string]string{
				v1alpha2.ConditionDeploymentUpdated: want,
				v1alpha2.ConditionReady:             "DeploymentUpdated is False; its message has the details",
				v1alpha2.ConditionStalled:           "The stack needs a change; see DeploymentUpdated",
			} {
				eventually(t, func() error { return b.says(t, "my", condition, v1alpha2.ReasonPreflightFailed, message) })
			}
			seen := b.picture(t, "my")
			b.shows(t, "my", picture{v1alpha2.PhaseFailed, seen.Conditions, kstatus.FailedStatus})
			if seen.Conditions[available] != "True "+v1alpha2.ReasonMinimumReplicasAvailable {
				t.Errorf("Available is %s", seen.Conditions[available])
			}
			if note := b.told(t, corev1.EventTypeWarning, v1alpha2.EventPreflightFailed); note != want {
				t.Errorf("note %q", note)
			}
			if text := fmt.Sprint(b.events(t), seen, logs.String()); strings.Contains(text, canary) {
				t.Error("what the server printed is shown")
			}
			calls := len(b.settled(t, b.namespace))
			b.untouched(t, before)

			// The next operator finds the outcome in the cluster.
			o.stop(t)
			b.direct(t, b.namespace+"-2")
			b.settled(t, b.namespace+"-2")
			if same := b.try(t, nil); same.UID != pod.UID || calls != len(b.calls(t, b.namespace)) {
				t.Error("it was tried again")
			}
			b.untouched(t, before)
			if err := b.Delete(t.Context(), pod); err != nil {
				t.Fatal(err)
			}
			again := b.try(t, pod)
			if again.Name != pod.Name {
				t.Errorf("the same change is tried in pod %s", again.Name)
			}
			b.place(t, again)
			b.kubelet(t, again, isReady())
			b.replaced(t, before)
			b.noTry(t)
		})
	}
}

// TestPreflightHindered checks that the preflight waits when a failure may pass: for the image, which the kubelet pulls
// again, and for another pod after an eviction.
func TestPreflightHindered(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serving(t, filed)
	b.removes(t)
	before := &appsv1.Deployment{}
	b.get(t, "my", before)
	b.respec(t, "my", changed)
	pod := b.try(t, nil)
	b.place(t, pod)
	b.kubelet(t, pod, container("example.com/i:1", waitingFor("ImagePullBackOff", "not found"), corev1.ContainerState{}))
	failed := b.condition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonPreflightFailed)
	if !strings.Contains(failed.Message, "the registry does not have the image") || !strings.HasSuffix(failed.Message, "; the node tries again") {
		t.Errorf("message %q", failed.Message)
	}
	b.shows(t, "my", picture{v1alpha2.PhasePending, b.picture(t, "my").Conditions, kstatus.InProgressStatus})

	evicted := corev1.PodStatus{Phase: corev1.PodFailed, Reason: "Evicted", Message: "low on memory", StartTime: new(metav1.Now())}
	b.kubelet(t, pod, evicted)
	eventually(t, func() error {
		return b.says(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonPreflightFailed, fmt.Sprintf("Pod %[1]q tries the change and does not become ready: "+
			"pod %[1]q ended (Evicted): low on memory. The running pods stay as they are; another pod replaces it", pod.Name))
	})
	b.settled(t, b.namespace)
	if same := b.try(t, nil); same.UID != pod.UID {
		t.Error("it was replaced at once")
	}
	evicted.StartTime = new(metav1.NewTime(time.Now().Add(-5 * time.Minute)))
	b.kubelet(t, pod, evicted)
	again := b.try(t, pod)
	b.untouched(t, before)
	b.place(t, again)
	b.kubelet(t, again, isReady())
	b.replaced(t, before)
	b.noTry(t)
}

// TestPreflightIsSkipped checks that the change is made without a preflight if its pod cannot run.
func TestPreflightIsSkipped(t *testing.T) {
	t.Parallel()
	const why = "no pods on Fridays"
	for name, tc := range map[string]struct {
		prevent func(*testing.T, *bench)
		words   string
	}{
		"quota": {func(t *testing.T, b *bench) { b.fill(t, corev1.ResourcePods) }, "exceeded quota: full"},
		"policy": {func(t *testing.T, b *bench) {
			b.forbid(t, "", "pods", why, &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "probe"}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "a", Image: "a"}}}})
		}, why},
		"pod security": {func(t *testing.T, b *bench) {
			namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: b.namespace}}
			patch := `{"metadata":{"labels":{"pod-security.kubernetes.io/enforce":"restricted"}}}`
			if err := b.Patch(t.Context(), namespace, client.RawPatch(types.MergePatchType, []byte(patch))); err != nil {
				t.Fatal(err)
			}
		}, `violates PodSecurity "restricted:latest"`},
		"no node": {nil, "0/1 nodes are available"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.serving(t, filed)
			b.removes(t)
			before := &appsv1.Deployment{}
			b.get(t, "my", before)
			spec := changed
			if name == "pod security" {
				spec = strings.Replace(changed, "workload: {", "workload: {overrides: {podTemplate: {spec: {securityContext: {runAsUser: 0, runAsNonRoot: false}}}}, ", 1)
			}
			if tc.prevent != nil {
				tc.prevent(t, b)
			}
			b.respec(t, "my", spec)
			if tc.prevent == nil {
				pod := b.try(t, nil)
				b.untouched(t, before)
				b.kubelet(t, pod, corev1.PodStatus{Phase: corev1.PodPending, Conditions: []corev1.PodCondition{{
					Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: corev1.PodReasonUnschedulable, Message: "0/1 nodes are available: 1 Insufficient memory.",
					LastTransitionTime: metav1.NewTime(time.Now().Add(-time.Minute)),
				}}})
			}
			b.replaced(t, before)
			b.noTry(t)
			if note := b.told(t, corev1.EventTypeWarning, v1alpha2.EventPreflightSkipped); !strings.HasPrefix(note, "The change is applied without a preflight: ") || !strings.Contains(note, tc.words) {
				t.Errorf("note %q", note)
			}
		})
	}
}

// TestPreflightSuperseded checks that only the last of several changes is tried, in one pod at a time, and that a
// change that is reverted leaves nothing behind.
func TestPreflightSuperseded(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const spec = `{distribution: {name: starter}, resources: {models: [MODEL]}, workload: {storage: {size: 1Gi}},
providers: {inference: {provider: vllm, endpoint: "http://vllm:8000", apiKey: {secretKeyRef: {name: vllm-creds, key: token}}}}}`
	model := func(name string) string { return strings.Replace(spec, "MODEL", name, 1) }
	b.create(t, secret("vllm-creds", "token", "sk-1"))
	b.serving(t, model("a"))
	b.removes(t)
	before := &appsv1.Deployment{}
	b.get(t, "my", before)
	b.respec(t, "my", model("b"))
	first := b.try(t, nil)
	b.place(t, first)
	b.respec(t, "my", model("c"))
	second := b.try(t, first)
	if second.Name == first.Name {
		t.Errorf("two changes have the name %s", second.Name)
	}
	b.place(t, second)
	b.kubelet(t, second, hasEnded(1, ""))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonPreflightFailed)
	b.change(t, "my", func(stack *v1alpha2.LlamaStackDistribution) { stack.Labels = map[string]string{"a": "b"} })
	b.settled(t, b.namespace)
	if same := b.try(t, nil); same.UID != second.UID {
		t.Error("a label of the stack has it tried again")
	}

	// The content of a Secret that the spec refers to is part of the change.
	token := secret("vllm-creds", "token", "sk-2")
	token.Namespace = b.namespace
	if err := b.Update(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	third := b.try(t, second)
	b.untouched(t, before)
	token = secret("vllm-creds", "token", "sk-1")
	token.Namespace = b.namespace
	if err := b.Update(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	b.try(t, third)
	b.respec(t, "my", model("a"))
	b.noTry(t)
	b.condition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateSucceeded)
	after := &appsv1.Deployment{}
	if b.get(t, "my", after); !equality.Semantic.DeepEqual(before.Spec, after.Spec) {
		t.Errorf("the pods that run are replaced by the same (-before +after):\n%s", cmp.Diff(before.Spec, after.Spec))
	}
	eventually(t, func() error { // the running one, and the previous one
		var configs corev1.ConfigMapList
		if err := b.List(t.Context(), &configs, client.InNamespace(b.namespace), client.MatchingLabels(names.ConfigLabels("my", names.ConfigKindGenerated))); err != nil {
			return err
		}
		if len(configs.Items) > 2 {
			return fmt.Errorf("%d configurations are kept", len(configs.Items))
		}
		return nil
	})
}

// TestPreflightHasItsOwnCopies checks that the running pods read their own copies of the objects that a change would
// write to, until the change has started.
func TestPreflightHasItsOwnCopies(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	const spec = `{distribution: {name: starter}, workload: {preflight: Always}, networking: {allowedFrom: {namespaces: [other]}},
storage: {kv: {type: redis, endpoint: "redis:6379", password: {secretKeyRef: {name: redis-creds, key: password}}}}}`
	b.create(t, secret("redis-creds", "password", "one"))
	b.serving(t, spec)
	b.removes(t)
	before := &appsv1.Deployment{}
	b.get(t, "my", before)
	token := secret("redis-creds", "password", "two")
	token.Namespace = b.namespace
	if err := b.Update(t.Context(), token); err != nil {
		t.Fatal(err)
	}
	pod := b.try(t, nil)
	password := func(name string) string {
		found := &corev1.Secret{}
		b.get(t, name, found)
		return string(found.Data["kv-password"])
	}
	if running, tried := password("my-storage"), password(pod.Name); running != "one" || tried != "two" {
		t.Errorf("the pods that run read %q, the one that tries the change %q", running, tried)
	}
	policy := &networkingv1.NetworkPolicy{}
	b.get(t, pod.Name, policy)
	if len(policy.Spec.Ingress) != 0 || policy.Spec.PodSelector.MatchLabels[names.LabelApp] != pod.Labels[names.LabelApp] {
		t.Errorf("policy %+v", policy.Spec)
	}
	b.place(t, pod)
	b.kubelet(t, pod, isReady())
	b.replaced(t, before)
	b.noTry(t)
	after := &appsv1.Deployment{}
	b.get(t, "my", after)
	if read := storageSecretOf(t, after); read == "my-storage" || password(read) != "two" {
		t.Errorf("the pods read %q of Secret %q", password(read), read)
	}
}

// TestNoPreflight checks which changes need no preflight.
func TestNoPreflight(t *testing.T) {
	t.Parallel()
	const rolling = `{distribution: {name: starter}, resources: {models: [llama]}}`
	for name, tc := range map[string]struct {
		first, then string
		// idle means that the pods do not serve. same means that the template does not change.
		idle, same bool
	}{
		"first roll-out is under way": {first: filed, then: changed, idle: true},
		"pods are added first":        {first: `{distribution: {name: starter}}`, then: rolling},
		"never":                       {first: filed, then: strings.Replace(changed, "workload: {", "workload: {preflight: Never, ", 1)},
		"scaled to zero":              {first: filed, then: strings.Replace(changed, "workload: {", "workload: {replicas: 0, ", 1)},
		"more replicas":               {first: filed, then: strings.Replace(filed, "workload: {", "workload: {replicas: 2, ", 1), same: true},
		"who may connect":             {first: filed, then: strings.Replace(filed, "workload:", "networking: {allowedFrom: {namespaces: [a]}}, workload:", 1), same: true},
		"a database": {
			first: strings.Replace(filed, "workload:", `storage: {kv: {type: redis, endpoint: "r:1"}}, workload:`, 1),
			then:  strings.Replace(changed, "workload:", `storage: {kv: {type: redis, endpoint: "r:1"}}, workload:`, 1),
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			b.direct(t, b.namespace)
			b.create(t, b.stack(t, "my", tc.first))
			b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
			if !tc.idle {
				b.rollOut(t, "my")
				b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
			}
			before := &appsv1.Deployment{}
			b.get(t, "my", before)
			b.respec(t, "my", tc.then)
			if !tc.same {
				b.replaced(t, before)
			}
			b.condition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentUpdateSucceeded)
			for _, call := range b.settled(t, b.namespace) {
				if strings.Contains(call, "pods") {
					t.Errorf("a call for nothing: %s", call)
				}
			}
		})
	}
	t.Run("always, where pods are added first", func(t *testing.T) {
		t.Parallel()
		b := newBench(t)
		b.serving(t, `{distribution: {name: starter}}`)
		b.respec(t, "my", strings.Replace(rolling, "resources:", "workload: {preflight: Always}, resources:", 1))
		b.try(t, nil)
	})
}

// TestPreflightOutlastsABlink checks that a pod that is unavailable for a moment does not let a change through that
// does not start.
func TestPreflightOutlastsABlink(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.serving(t, filed)
	before := &appsv1.Deployment{}
	b.get(t, "my", before)
	b.respec(t, "my", changed)
	pod := b.try(t, nil)
	b.place(t, pod)
	b.kubelet(t, pod, hasEnded(1, ""))
	b.condition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonPreflightFailed)
	b.progress(t, "my", "NewReplicaSetAvailable")
	b.condition(t, "my", v1alpha2.ConditionAvailable, v1alpha2.ReasonReplicasUnavailable)
	b.settled(t, b.namespace)
	b.untouched(t, before)
}
