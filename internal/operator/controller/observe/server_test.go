package observe

import (
	"slices"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

func TestReleaseNote(t *testing.T) {
	offered := release.Offered()
	newest := offered[len(offered)-1]
	for name, tc := range map[string]struct {
		version, configured string
		image               bool
		label               bool
		outcome             rollout.Outcome
		want                string
	}{
		"the server reports no version":  {version: "", configured: "0.7"},
		"the same release":               {version: "0.7.3", configured: "0.7"},
		"a development version":          {version: "0.7.4.dev20250901", configured: "0.7"},
		"a version that is not a number": {version: "latest", configured: "0.7"},
		"a rollback":                     {version: "0.7.1", configured: "0.6", outcome: rollout.RolledBack},
		"a distribution with a name":     {version: newest + ".1", configured: "0.1", want: "the server runs release " + newest + ".1, but its configuration is for release 0.1: set spec.distribution.version to \"" + newest + "\""},
		"an image": {version: newest + ".0rc1", configured: "0.1", image: true, want: "the server runs release " + newest + ".0rc1, but its configuration is for release 0.1: set spec.distribution.image to an image with a tag that begins with " + newest +
			", or with the label io.llamastack.server.version=" + newest + ".0rc1"},
		"an image with a label": {
			version: newest + ".0", configured: "0.1", image: true, label: true,
			want: "the server runs release " + newest +
				".0, but its configuration is for release 0.1: the image's label is incorrect; set spec.distribution.image to an image with the label io.llamastack.server.version=" + newest + ".0",
		},
		"an unknown release":                  {version: "9.0.0", configured: "0.7", want: "the server runs release 9.0.0, but its configuration is for release 0.7: use an image with a server release that this operator supports: " + strings.Join(offered, ", ")},
		"a release with the same first digit": {version: "0.70.1", configured: "0.7", want: "the server runs release 0.70.1, but its configuration is for release 0.7: use an image with a server release that this operator supports: " + strings.Join(offered, ", ")},
	} {
		t.Run(name, func(t *testing.T) {
			object := &stack{}
			object.Spec.Distribution.Name = "starter"
			if tc.image {
				object.Spec.Distribution = v1alpha2.DistributionSpec{Image: "example.com/x:prod"}
			}
			var image distribution.Resolved
			if tc.label {
				image.DetectedBy = distribution.ByLabel
			}
			object.Status.Version = &v1alpha2.VersionStatus{LlamaStackServerVersion: tc.version}
			decision := rollout.Decision{Outcome: tc.outcome}
			decision.Record.Distribution.Release = tc.configured
			if got := releaseNote(object, &image, &decision); got != tc.want {
				t.Errorf("note %q, want %q", got, tc.want)
			}
		})
	}
	if got := releaseNote(&stack{}, &distribution.Resolved{}, &rollout.Decision{}); got != "" {
		t.Errorf("note %q for a new stack", got)
	}
}

// TestRollout checks that a different template, a different Deployment or a different pod image counts as a new
// rollout, and that scaling does not.
func TestRollout(t *testing.T) {
	deployment := &appsv1.Deployment{}
	deployment.UID = "u"
	var images, seen []string
	look := func() {
		t.Helper()
		rollout, err := rolloutOf(deployment, images)
		testutil.Must(t, err)
		seen = append(seen, rollout)
	}
	look()
	deployment.Spec.Replicas = new(int32(3))
	deployment.Generation = 2
	look()
	deployment.Spec.Template.Annotations = map[string]string{"kubectl.kubernetes.io/restartedAt": "now"}
	look()
	deployment.UID = "v"
	look()
	images = []string{"example.com/x@sha256:1"}
	look()
	images = []string{"example.com/x@sha256:2"}
	look()
	if seen[0] != seen[1] || len(slices.Compact(seen)) != 5 {
		t.Errorf("rollouts %q", seen)
	}
}

// TestImagesOfReadyServers checks that only the images of ready servers are returned, each once and regardless of the
// order of the pods.
func TestImagesOfReadyServers(t *testing.T) {
	pod := func(containers ...corev1.ContainerStatus) corev1.Pod {
		return corev1.Pod{Status: corev1.PodStatus{ContainerStatuses: containers}}
	}
	server := func(image string, ready bool) corev1.ContainerStatus {
		return corev1.ContainerStatus{Name: names.Container, ImageID: image, Ready: ready}
	}
	got := pulled([]corev1.Pod{
		pod(server("b", true)), pod(), pod(corev1.ContainerStatus{Name: "sidecar", ImageID: "s", Ready: true}, server("a", true)),
		pod(server("b", true)), pod(server("c", false)),
	}, names.Container)
	if want := []string{"a", "b"}; !slices.Equal(got, want) {
		t.Errorf("images %q, want %q", got, want)
	}
}

// TestServesTLS checks that the scheme of requests to the server is the scheme of its readiness probe.
func TestServesTLS(t *testing.T) {
	probe := func(scheme corev1.URIScheme) *corev1.Probe {
		return &corev1.Probe{ProbeHandler: corev1.ProbeHandler{HTTPGet: &corev1.HTTPGetAction{Scheme: scheme}}}
	}
	for name, tc := range map[string]struct {
		containers []corev1.Container
		want       bool
	}{
		"no container":             {nil, false},
		"HTTP":                     {[]corev1.Container{{Name: names.Container, ReadinessProbe: probe("HTTP")}}, false},
		"HTTPS":                    {[]corev1.Container{{Name: "sidecar"}, {Name: names.Container, ReadinessProbe: probe("HTTPS")}}, true},
		"HTTPS probe of a sidecar": {[]corev1.Container{{Name: "sidecar", ReadinessProbe: probe("HTTPS")}}, false},
		"probe without HTTP":       {[]corev1.Container{{Name: names.Container, ReadinessProbe: &corev1.Probe{}}}, false},
	} {
		if got := servesTLS(render.ServerContainer(&stack{}, &corev1.PodSpec{Containers: tc.containers})); got != tc.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
