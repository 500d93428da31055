package cli_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// refusedGPU is the API server's response to a Deployment with an unknown resource.
func refusedGPU() metav1.Status {
	server := field.NewPath("spec", "template", "spec", "containers").Index(0)
	return apierrors.NewInvalid(schema.GroupKind{Group: "apps", Kind: "Deployment"}, "demo", field.ErrorList{
		field.Invalid(server.Child("resources", "limits").Key("example.com/gpu"), "1", "no"),
	}).ErrStatus
}

// TestServer checks that validate --dry-run=server and diff report the API server's answers in the same words, with
// the field of the stack, and what they report if the user lacks permissions.
func TestServer(t *testing.T) {
	const spec = "{distribution: {name: starter}, workload: {resources: {limits: {example.com/gpu: 1}}}}"
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "demo",
		errors.New(`User "me" cannot create resource "pods" in API group "" in the namespace "team-a"`)).ErrStatus
	quota := apierrors.NewForbidden(schema.GroupResource{Resource: "pods"}, "demo",
		errors.New("exceeded quota: full, requested: pods=1, used: pods=1, limited: pods=1")).ErrStatus
	v1alpha1 := "apiVersion: llamastack.io/v1alpha1\nkind: LlamaStackDistribution\nmetadata: {name: demo, namespace: team-a}\n" +
		"spec: {server: {distribution: {name: starter}, containerSpec: {resources: {limits: {example.com/gpu: 1}}}}}\n"
	for name, tc := range map[string]struct {
		manifest       string
		rejections     map[string]metav1.Status
		validate, diff int
		want           string
	}{
		"an accepted stack": {manifest: stack(spec), diff: 1},
		"an invalid Deployment": {
			manifest: stack(spec), rejections: map[string]metav1.Status{deployment: refusedGPU()}, validate: 1, diff: 2,
			want: `spec.workload.resources.limits[example.com/gpu]: the API server rejects Deployment "demo": Invalid value: "1": no`,
		},
		"an invalid Deployment of v1alpha1": {
			manifest: v1alpha1, rejections: map[string]metav1.Status{deployment: refusedGPU()}, validate: 1, diff: 2,
			want: `spec.server.containerSpec.resources.limits[example.com/gpu]: the API server rejects Deployment "demo"`,
		},
		"a quota": {
			manifest: stack(spec), rejections: map[string]metav1.Status{pathOfPods: quota}, diff: 1,
			want: `the API server currently rejects Pod "demo": exceeded quota: full, requested: pods=1`,
		},
		"no permission": {
			manifest: stack(spec), diff: 1,
			rejections: map[string]metav1.Status{pathOfPods: forbidden, deployment: forbidden},
			want:       `Deployment "demo", Pod "demo" not judged by the API server: a dry run needs the permissions`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			c := newLiveCluster(t)
			c.rejections = tc.rejections
			if c.rejections != nil {
				// A new object with the same content is refused too.
				c.rejections["/apis/apps/v1/namespaces/team-a/deployments"] = tc.rejections[deployment]
			}
			for _, command := range []struct {
				line string
				code int
			}{{"validate --dry-run=server -f -", tc.validate}, {"diff -f -", tc.diff}} {
				got := c.run(t, tc.manifest, strings.Fields(command.line)...)
				got.exits(t, command.code, command.line)
				contains(t, got.out+got.err, tc.want)
				if !slices.Contains(c.requests, dryRun+" "+deployment) {
					t.Errorf("%s: the API server was not asked: %q", command.line, c.requests)
				}
			}
		})
	}
}

// TestServerUnreachable checks that validate --dry-run=server does not report a stack as valid if the API server
// does not respond.
func TestServerUnreachable(t *testing.T) {
	c := newLiveCluster(t)
	delete(c.objects, pathOfVersion)
	got := c.run(t, stack(simple), "validate", "--dry-run=server", "-f", "-")
	if got.code != 1 || strings.Contains(got.err, "ok:") {
		t.Errorf("exit code %d\n%s", got.code, got.err)
	}
}
