package version_test

import (
	"strings"
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

func TestSkew(t *testing.T) {
	const (
		operator = "operator ns/op has version v1.2.0, and "
		command  = operator + "this command has version "
		fixed    = "the CustomResourceDefinition has version v1.2.1, but they must have the same version; apply the operator's manifest or upgrade its chart again"
		minor    = ", but they can differ by only one minor version; use the version of the command that matches the operator"
	)
	for name, tc := range map[string]struct{ command, definition, operator, stacks, want string }{
		"equal except for the prefix v": {command: "1.2.0", definition: "v1.2.0", operator: "v1.2.0"},
		"older command":                 {command: "v1.1.7", definition: "v1.2.0", operator: "v1.2.0"},
		"newer command":                 {command: "v1.3.0-rc.1", definition: "v1.2.0", operator: "v1.2.0"},
		"development build":             {command: "development", operator: "v1.1.0"},
		"tag of a checkout":             {command: "v1.2.0", definition: "v1.2.0", operator: "dev"},
		"definition of a checkout":      {command: "v1.2.0", operator: "v1.2.0"},
		"no operator and no stacks":     {command: "v1.2.0", definition: "v1.0.0"},
		"Deployments precede stacks":    {command: "v1.2.0", operator: "v1.2.0", stacks: "v1.0.0"},
		"command too new":               {command: "v1.4.0", operator: "v1.2.0", want: command + "v1.4.0" + minor},
		"command too old":               {command: "v1.0.9", operator: "v1.2.0", want: command + "v1.0.9" + minor},
		"another major version":         {command: "v2.2.0", operator: "v1.2.0", want: command + "v2.2.0" + minor},
		"another definition": {
			command: "v1.2.0", definition: "v1.2.1", operator: "v1.2.0", want: operator + fixed,
		},
		"stacks of another version": {
			command: "v1.2.0", stacks: "v1.0.0",
			want: "the operator that wrote the status of stacks has version v1.0.0, and this command has version v1.2.0" + minor,
		},
	} {
		t.Run(name, func(t *testing.T) {
			found := version.Server{Definition: tc.definition}
			if tc.operator != "" {
				found.Operators = []version.Operator{{Namespace: "ns", Name: "op", Version: tc.operator}}
			}
			if tc.stacks != "" {
				found.Stacks = []version.Written{{Version: tc.stacks, Stacks: 1}}
			}
			got := version.Skew(version.Report{Client: version.Client{Version: tc.command}, Server: &found})
			if diff := cmp.Diff(tc.want, strings.Join(got, "\n")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// Stacks without a version in their status are counted, too.
func TestCount(t *testing.T) {
	stack := func(version string) v1alpha2.LlamaStackDistribution {
		return v1alpha2.LlamaStackDistribution{Status: v1alpha2.LlamaStackDistributionStatus{
			Version: &v1alpha2.VersionStatus{OperatorVersion: version},
		}}
	}
	got := version.Count([]v1alpha2.LlamaStackDistribution{stack("v1.0.0"), {}, stack("v1.1.0"), stack("v1.1.0")})
	want := []version.Written{{Version: "v1.1.0", Stacks: 2}, {Version: "none", Stacks: 1}, {Version: "v1.0.0", Stacks: 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}
