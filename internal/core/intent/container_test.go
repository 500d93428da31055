package intent

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

func TestContainerOf(t *testing.T) {
	fields := Container{Home: new("/fields"), Mounts: []string{"/fields"}}
	with := func(home string, probe bool, mounts ...string) Container {
		return Container{Home: &home, Mounts: append([]string{"/fields"}, mounts...), ReadinessProbe: probe}
	}
	for patch, want := range map[string]Container{
		``:                     fields,
		`{}`:                   fields,
		`{"spec": "nonsense"}`: fields,
		`{"spec": {"containers": [{"name": "llama-stack", "livenessProbe": {}}]}}`: fields,
		`{"spec": {"containers": [{"name": "llama-stack", "env": [{"name": "HOME", "value": "/patch"}]}]}}`: {
			Home: new("/patch"), Mounts: []string{"/fields"}, PatchEnv: []EnvValue{{"HOME", "/patch"}},
		},
		`{"spec": {"containers": [{"name": "llama-stack", "volumeMounts": [{"name": "a", "mountPath": "/patch"}]}]}}`:    with("/fields", false, "/patch"),
		`{"spec": {"containers": [{"name": "side", "env": [{"name": "HOME"}], "volumeMounts": [{"mountPath": "/a"}]}]}}`: fields,
		`{"spec": {"containers": [{"name": "a"}, {"readinessProbe": {"tcpSocket": {"port": 1}}}]}}`:                      with("/fields", true),
		`{"spec": {"containers": [{"name": "llama-stack", "readinessProbe": {"$patch": "replace"}}]}}`:                   with("/fields", true),
	} {
		stack := &v1alpha2.LlamaStackDistribution{}
		stack.Spec.Workload = &v1alpha2.WorkloadSpec{Overrides: &v1alpha2.WorkloadOverrides{
			Env:          []corev1.EnvVar{{Name: "HOME", Value: "/fields"}},
			VolumeMounts: []corev1.VolumeMount{{Name: "a", MountPath: "/fields"}},
			PodTemplate:  &apiextensionsv1.JSON{Raw: []byte(patch)},
		}}
		if diff := cmp.Diff(want, containerOf(stack)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", patch, diff)
		}
	}
	if got := containerOf(&v1alpha2.LlamaStackDistribution{}); got.Home != nil || got.Mounts != nil || got.ReadinessProbe {
		t.Errorf("an empty spec changes %+v", got)
	}
}
