package version_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/version"
)

func deployment(name, image string, labels map[string]string) appsv1.Deployment {
	d := appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "ns", Name: name, Labels: labels}}
	d.Spec.Template.Spec.Containers = []corev1.Container{
		{Name: "proxy", Image: "proxy:1"},
		{Name: "manager", Image: image},
	}
	return d
}

func TestOperators(t *testing.T) {
	found := version.Operators([]appsv1.Deployment{
		deployment("other-controller-manager", "example.com/other:1.0", nil),
		deployment("llama-stack-k8s-operator-controller-manager", "example.com:5000/operator:v1.2.0@sha256:0", nil),
		deployment("chart", "example.com/operator@sha256:0", map[string]string{
			"app.kubernetes.io/name": "llama-stack-k8s-operator", "app.kubernetes.io/version": "1.3.0",
		}),
		deployment("by-image", "example.com/llama-stack-k8s-operator", nil),
	})
	versions := map[string]string{}
	for _, operator := range found {
		versions[operator.Name] = operator.Version
	}
	want := map[string]string{
		"llama-stack-k8s-operator-controller-manager": "v1.2.0",
		"chart":    "1.3.0",
		"by-image": "unknown",
	}
	if diff := cmp.Diff(want, versions); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestCompare(t *testing.T) {
	for name, tc := range map[string]struct {
		command   string
		operators []string
		stacks    []string
		want      bool
	}{
		"equal except for the prefix v":    {command: "1.2.0", operators: []string{"v1.2.0"}},
		"different":                        {command: "v1.2.0", operators: []string{"v1.1.0"}, want: true},
		"development build":                {command: "development", operators: []string{"v1.1.0"}},
		"latest":                           {command: "v1.2.0", operators: []string{"latest"}},
		"versions from the stacks":         {command: "v1.2.0", stacks: []string{"v1.1.0"}, want: true},
		"versions of operators and stacks": {command: "v1.2.0", operators: []string{"v1.2.0"}, stacks: []string{"v1.1.0"}},
		"stacks without a version":         {command: "v1.2.0", stacks: []string{""}},
	} {
		t.Run(name, func(t *testing.T) {
			report := version.Report{Client: version.Client{Version: tc.command}, Server: &version.Server{}}
			for _, number := range tc.operators {
				report.Server.Operators = append(
					report.Server.Operators,
					version.Operator{Namespace: "ns", Name: "op", Version: number},
				)
			}
			var stacks []v1alpha2.LlamaStackDistribution
			for _, number := range tc.stacks {
				stacks = append(stacks, v1alpha2.LlamaStackDistribution{Status: v1alpha2.LlamaStackDistributionStatus{
					Version: &v1alpha2.VersionStatus{OperatorVersion: number},
				}})
			}
			report.Server.Stacks = version.Count(stacks)
			if said := report.Compare(); report.Differs != tc.want || len(said) > 0 != tc.want {
				t.Errorf("differs %t, want %t: %v", report.Differs, tc.want, said)
			}
		})
	}
}
