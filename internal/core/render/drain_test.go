package render_test

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// TestDrain checks how a pod terminates: the server accepts requests for a moment, and then finishes the requests that
// it has accepted. The preStop hook is never longer than the grace period, and the operator does not add it if the user
// has set a preStop hook. The API server would reject a longer hook, or a hook with two handlers.
func TestDrain(t *testing.T) {
	grace := func(seconds int64) *v1alpha2.WorkloadOverrides {
		return &v1alpha2.WorkloadOverrides{TerminationGracePeriodSeconds: &seconds}
	}
	patch := func(text string) *v1alpha2.WorkloadOverrides {
		raw, err := yaml.YAMLToJSON([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return &v1alpha2.WorkloadOverrides{PodTemplate: &apiextensionsv1.JSON{Raw: raw}}
	}
	const sleeps = "preStop:\n  sleep:\n    seconds: "
	for name, tc := range map[string]struct {
		overrides *v1alpha2.WorkloadOverrides
		compat    bool
		grace     int64 // 0 means that no grace period is set
		lifecycle string
	}{
		"default":                         {grace: 120, lifecycle: sleeps + "5\n"},
		"longer":                          {overrides: grace(600), grace: 600, lifecycle: sleeps + "5\n"},
		"short":                           {overrides: grace(6), grace: 6, lifecycle: sleeps + "3\n"},
		"too short":                       {overrides: grace(1), grace: 1},
		"a grace period of 0":             {overrides: grace(0)},
		"a short grace period in a patch": {overrides: patch("{spec: {terminationGracePeriodSeconds: 4}}"), grace: 4, lifecycle: sleeps + "2\n"},
		"the user's hook":                 {overrides: patch("{spec: {containers: [{name: llama-stack, lifecycle: {preStop: {exec: {command: [a]}}}}]}}"), grace: 120, lifecycle: "preStop:\n  exec:\n    command:\n    - a\n"},
		"another hook":                    {overrides: patch("{spec: {containers: [{name: llama-stack, lifecycle: {postStart: {sleep: {seconds: 9}}}}]}}"), grace: 120, lifecycle: "postStart:\n  sleep:\n    seconds: 9\n" + sleeps + "5\n"},
		"a sidecar before the server's container": {overrides: patch("{spec: {containers: [{name: a, image: b}]}}"), grace: 120, lifecycle: sleeps + "5\n"},
		"stack of v1alpha1":                       {compat: true},
	} {
		t.Run(name, func(t *testing.T) {
			in := readInput(t, filepath.Join("testdata", "image-default", "in.yaml"))
			in.Stack.Spec.Workload = &v1alpha2.WorkloadSpec{Overrides: tc.overrides}
			if tc.compat {
				in.Stack.Annotations = map[string]string{names.AnnotationCompat: names.CompatV1Alpha1}
			}
			template := renderedTemplate(t, in)
			var seconds int64
			if template.Spec.TerminationGracePeriodSeconds != nil {
				seconds = *template.Spec.TerminationGracePeriodSeconds
			}
			if lifecycle := lifecycleOf(t, template.Spec); seconds != tc.grace || lifecycle != tc.lifecycle {
				t.Errorf("grace period %d and lifecycle:\n%s\nwant %d and\n%s", seconds, lifecycle, tc.grace, tc.lifecycle)
			}
			checkPreflight(t, in, template)
		})
	}
}

// checkPreflight checks that the preflight pod has no hook, because the pod serves no requests and its grace period is
// short.
func checkPreflight(t *testing.T, in render.Input, template *corev1ac.PodTemplateSpecApplyConfiguration) {
	t.Helper()
	before := lifecycleOf(t, template.Spec)
	objects, err := render.PreflightObjects(in, render.Preflight{Template: template})
	if err != nil {
		t.Fatal(err)
	}
	pod, ok := objects[len(objects)-1].Apply.(*corev1ac.PodApplyConfiguration)
	if !ok {
		t.Fatalf("%T is not a pod", objects[len(objects)-1].Apply)
	}
	for i := range pod.Spec.Containers {
		if l := pod.Spec.Containers[i].Lifecycle; l != nil && l.PreStop != nil {
			t.Errorf("the pod of the preflight has the hook %+v", l.PreStop)
		}
	}
	if diff := cmp.Diff(before, lifecycleOf(t, template.Spec)); diff != "" {
		t.Errorf("the preflight changed the template (-want +got):\n%s", diff)
	}
}

// renderedTemplate returns the pod template of the rendered Deployment.
func renderedTemplate(t *testing.T, in render.Input) *corev1ac.PodTemplateSpecApplyConfiguration {
	t.Helper()
	objects, err := render.Objects(in)
	if err != nil {
		t.Fatal(err)
	}
	for _, object := range objects {
		if deployment, ok := object.Apply.(*appsv1ac.DeploymentApplyConfiguration); ok {
			return deployment.Spec.Template
		}
	}
	t.Fatal("no Deployment is rendered")
	return nil
}

// lifecycleOf returns the lifecycle of the server's container as YAML, or an empty string if the container has no
// lifecycle.
func lifecycleOf(t *testing.T, pod *corev1ac.PodSpecApplyConfiguration) string {
	t.Helper()
	for i := range pod.Containers {
		if *pod.Containers[i].Name != names.Container || pod.Containers[i].Lifecycle == nil {
			continue
		}
		data, err := yaml.Marshal(pod.Containers[i].Lifecycle)
		if err != nil {
			t.Fatal(err)
		}
		return string(data)
	}
	return ""
}
