package controller

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// newConvertedStack returns the stack that results from a v1alpha1 object that the previous operator managed.
func newConvertedStack(t *testing.T, server, status string) *stack {
	t.Helper()
	var values map[string]any
	if err := yaml.Unmarshal([]byte(`
apiVersion: llamastack.io/v1alpha1
kind: LlamaStackDistribution
metadata: {name: my, namespace: team, uid: uid-of-my, generation: 1}
spec: {server: {`+server+`}}
status: {`+status+`}`), &values); err != nil {
		t.Fatal(err)
	}
	object := &stack{}
	testutil.Must(t, runtime.DefaultUnstructuredConverter.FromUnstructured(convert.ToHub(values), object))
	object.SetGroupVersionKind(v1alpha2.GroupVersionKind)
	return object
}

// createV1alpha1Deployment creates a stack's Deployment as the previous operator did.
func (f *fixture) createV1alpha1Deployment(
	t *testing.T, stack *stack, container corev1.Container, volumes ...corev1.Volume,
) {
	t.Helper()
	labels := map[string]string{"app": "llama-stack", "app.kubernetes.io/instance": stack.Name}
	container.Name = names.Container
	deployment := &appsv1.Deployment{
		ObjectMeta: testutil.ChildMeta(stack, stack.Name),
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{container}, Volumes: volumes},
			},
		},
	}
	testutil.Must(t, f.Create(t.Context(), deployment, client.FieldOwner("manager")))
	f.writes = nil
}

// checkAdoption runs the steps, checks the outcome and returns the template of the Deployment.
func (f *fixture) checkAdoption(t *testing.T, stack *stack, want rollout.Outcome) *corev1.PodTemplateSpec {
	t.Helper()
	s, err := f.runSteps(t, stack, "apply")
	if err != nil || s.owned.decision.Outcome != want {
		t.Fatalf("outcome %s, want %s, error %v", s.owned.decision.Outcome, want, err)
	}
	template := f.podTemplate(t, stack)
	for _, event := range s.report.Events {
		if image := template.Spec.Containers[0].Image; event.Reason == v1alpha2.EventDeploymentUpdated &&
			!strings.Contains(event.Note, strconv.Quote(image)) {
			t.Errorf("the image is %q, and the note of the event is %s", image, event.Note)
		}
	}
	return template
}

// TestReleaseOfATakenOverStack checks the release of a stack that ran the image with the tag `latest`. When the stack
// changes, it keeps the release that it runs and does not change to the newest release. The previous operator has
// recorded the release in the status, or this operator records it after the takeover.
func TestReleaseOfATakenOverStack(t *testing.T) {
	const running, told = "docker.io/llamastack/distribution-starter:latest", "version: {llamaStackServerVersion: 0.3.5}"
	for name, status := range map[string][2]string{"known before": {told, told}, "known later": {"", told}} {
		f := newFixture(t)
		stack := newConvertedStack(t, "distribution: {name: starter}", status[0])
		f.createV1alpha1Deployment(t, stack, corev1.Container{Image: running})
		before := f.podTemplate(t, stack)
		for i, status := range status {
			next := newConvertedStack(t, "distribution: {name: starter}", status)
			if diff := cmp.Diff(before, f.checkAdoption(t, next, rollout.KeepTemplate)); diff != "" {
				t.Errorf("%s: the pods are replaced at reconcile %d:\n%s", name, i+1, diff)
			}
		}
		changed := newConvertedStack(t, "distribution: {name: starter}, workers: 2", told)
		changed.Generation = 2
		now := f.checkAdoption(t, changed, rollout.Changed)
		if image, want := now.Spec.Containers[0].Image, "docker.io/ogxai/distribution-starter:0.3.5"; image != want {
			t.Errorf("%s: image %q after a change, want %q", name, image, want)
		}
	}
}

// TestKeptPodsOfATakenOverStack checks that a takeover writes no ConfigMap that the kept pods mount, because the
// previous operator restarts pods after each write to it, and that the status names the image that runs. The next
// change writes the ConfigMap and replaces the image.
func TestKeptPodsOfATakenOverStack(t *testing.T) {
	const running = "docker.io/llamastack/distribution-starter:latest"
	const next = "docker.io/ogxai/distribution-starter:0.3.5"
	const server = "distribution: {name: starter}, tlsConfig: {caBundle: {configMapName: ca}}"
	const told = "version: {llamaStackServerVersion: 0.3.5}"
	f := newFixture(t)
	stack := newConvertedStack(t, server, told)
	certificate, _ := testutil.NewCertificate(t, time.Now().Add(time.Hour))
	source := &corev1.ConfigMap{
		ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "ca"},
		Data:       map[string]string{"ca-bundle.crt": string(certificate)},
	}
	bundle := &corev1.ConfigMap{
		ObjectMeta: testutil.ChildMeta(stack, names.CABundle("my")), Data: map[string]string{names.CABundleFile: "older"},
	}
	f.createObjects(t, source, bundle)
	volume := corev1.Volume{Name: names.CAVolume}
	volume.ConfigMap = &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: bundle.Name}}
	f.createV1alpha1Deployment(t, stack, corev1.Container{Image: running}, volume)
	for i, want := range []struct {
		server, image string
		keeps         bool
	}{{server, running, true}, {server, running, true}, {server + ", workers: 2", next, false}} {
		stack := newConvertedStack(t, want.server, told)
		stack.Generation = int64(len(want.server))
		s, err := f.runSteps(t, stack, "apply")
		testutil.Must(t, err)
		f.describe(s)
		now := &corev1.ConfigMap{}
		testutil.Must(t, f.Get(t.Context(), client.ObjectKeyFromObject(bundle), now))
		if kept := now.ResourceVersion == bundle.ResourceVersion; kept != want.keeps {
			t.Errorf("reconcile %d: the mounted ConfigMap is as it was: %t, want %t", i+1, kept, want.keeps)
		}
		known := stack.Status.ResolvedDistribution
		if known.Image != want.image || known.Catalogue() != next {
			t.Errorf("reconcile %d: image %q and %q of the catalog in the status, want %q and %q", i+1, known.Image,
				known.Catalogue(), want.image, next)
		}
		message := conditionTexts(&s.report)[v1alpha2.ConditionAdopted]
		both := strconv.Quote(next) + " instead of " + strconv.Quote(running)
		if names := strings.Contains(message, both); names != want.keeps {
			t.Errorf("reconcile %d: the condition names both images: %t, want %t: %s", i+1, names, want.keeps, message)
		}
	}
}

// TestReturnFromThePreviousOperator checks the case in which a user goes back to the previous operator and then
// installs this operator again. The pods do not change, and the next change uses the running release instead of the
// facts in the record about the replaced pods.
func TestReturnFromThePreviousOperator(t *testing.T) {
	const running, told = "docker.io/llamastack/distribution-starter:latest", "version: {llamaStackServerVersion: 0.3.5}"
	f := newFixture(t)
	first := newConvertedStack(t, "distribution: {name: starter}, storage: {size: 1Gi}", "")
	ours := f.checkAdoption(t, first, rollout.Changed)
	applied := appsv1ac.Deployment("my",
		"team").WithSpec(appsv1ac.DeploymentSpec().WithTemplate(corev1ac.PodTemplateSpec().
		WithSpec(corev1ac.PodSpec().WithContainers(corev1ac.Container().WithName(names.Container).WithImage(running)))))
	testutil.Must(t, f.Apply(t.Context(), applied, client.FieldOwner("my"), client.ForceOwnership))
	before := f.podTemplate(t, first)
	if ours.Spec.Containers[0].Image == running || before.Spec.Containers[0].Image != running {
		t.Fatalf("image %q, then %q", ours.Spec.Containers[0].Image, before.Spec.Containers[0].Image)
	}
	for i := range 2 {
		again := newConvertedStack(t, "distribution: {name: starter}, storage: {size: 1Gi}", told)
		s, err := f.runSteps(t, again, "apply")
		if err != nil || s.owned.decision.Outcome != rollout.KeepTemplate {
			t.Fatalf("reconcile %d: outcome %s, error %v", i+1, s.owned.decision.Outcome, err)
		}
		if diff := cmp.Diff(before, f.podTemplate(t, again)); diff != "" {
			t.Errorf("the pods are replaced at reconcile %d:\n%s", i+1, diff)
		}
		if i == 0 && s.workload.Record.Places != nil {
			t.Errorf("the places of the replaced pods are still used: %+v", s.workload.Record.Places)
		}
	}
	changed := newConvertedStack(t, "distribution: {name: starter}, storage: {size: 1Gi}, workers: 2", told)
	changed.Generation = 2
	now := f.checkAdoption(t, changed, rollout.Changed)
	if image, want := now.Spec.Containers[0].Image, "docker.io/ogxai/distribution-starter:0.3.5"; image != want {
		t.Errorf("image %q after a change, want %q", image, want)
	}
}

// TestLimitsOfATakenOverStack checks that pods with workers keep the kind of limits that the previous operator set,
// which a quota can require: each limit equals the request, unless the user sets a limit. Other pods get only the
// limits that the user sets.
func TestLimitsOfATakenOverStack(t *testing.T) {
	list := func(cpu, memory string) corev1.ResourceList {
		return corev1.ResourceList{
			corev1.ResourceCPU:    resource.MustParse(cpu),
			corev1.ResourceMemory: resource.MustParse(memory),
		}
	}
	usual := corev1.ResourceRequirements{Requests: list("4", "1Gi"), Limits: list("4", "1Gi")}
	own := corev1.ResourceRequirements{Requests: list("4", "1Gi"), Limits: list("8", "4Gi")}
	for name, tc := range map[string]struct {
		runs *corev1.ResourceRequirements // nil means that the stack has no running pods
		then []string                     // spec.server.workers and containerSpec of each change
		want []string                     // the limits after each change
	}{
		"taken over": {
			&usual,
			[]string{
				"workers: 4, containerSpec: {port: 9000}", "workers: 2, containerSpec: {port: 9000}",
				"workers: 2, containerSpec: {resources: {requests: {memory: 2Gi}}}",
				"workers: 2, containerSpec: {resources: {limits: {memory: 8Gi}}}", "containerSpec: {port: 9000}", "workers: 2",
			},
			[]string{"cpu 4, memory 1Gi", "cpu 2, memory 1Gi", "cpu 2, memory 2Gi", "cpu 2, memory 8Gi", "", ""},
		},
		"taken over, limits of the user": {&own, []string{"workers: 4, containerSpec: {port: 9000}"}, []string{""}},
		"taken over, workers removed":    {&usual, []string{"containerSpec: {port: 9000}"}, []string{""}},
		"new stack":                      {nil, []string{"workers: 4"}, []string{""}},
	} {
		f := newFixture(t)
		if tc.runs != nil {
			stack := newConvertedStack(t, "distribution: {name: starter}, workers: 4", "")
			f.createV1alpha1Deployment(t, stack, corev1.Container{Image: "docker.io/llamastack/distribution-starter:latest", Resources: *tc.runs})
			f.checkAdoption(t, stack, rollout.KeepTemplate)
		}
		for i, spec := range tc.then {
			changed := newConvertedStack(t, "distribution: {name: starter}, "+spec, "")
			changed.Generation = int64(i + 2)
			var got []string
			limits := f.checkAdoption(t, changed, rollout.Changed).Spec.Containers[0].Resources.Limits
			for _, name := range slices.Sorted(maps.Keys(limits)) {
				limit := limits[name]
				got = append(got, string(name)+" "+limit.String())
			}
			if got := strings.Join(got, ", "); got != tc.want[i] {
				t.Errorf("%s: after change %d the limits are %q, want %q", name, i+1, got, tc.want[i])
			}
		}
	}
}
