package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// pageLister simulates an API server with one ReplicaSet or pod in each page. It refuses larger pages, because any
// client can create objects of 14 MB with the labels of a stack, and several workers read them at once.
type pageLister struct {
	client.Client
	pages []client.Object
	lists int
}

// List returns the next page.
func (p *pageLister) List(_ context.Context, list client.ObjectList, options ...client.ListOption) error {
	asked := (&client.ListOptions{}).ApplyOptions(options)
	if asked.Limit < 1 || asked.Limit > 2 {
		return fmt.Errorf("a page of %d objects needs too much memory", asked.Limit)
	}
	if asked.Continue != strings.Repeat("n", p.lists) {
		return fmt.Errorf("page %d was requested with %q", p.lists, asked.Continue)
	}
	switch list := list.(type) {
	case *appsv1.ReplicaSetList:
		list.Items = []appsv1.ReplicaSet{*p.pages[p.lists].(*appsv1.ReplicaSet)}
	case *corev1.PodList:
		list.Items = []corev1.Pod{*p.pages[p.lists].(*corev1.Pod)}
	}
	if p.lists++; p.lists < len(p.pages) {
		list.SetContinue(strings.Repeat("n", p.lists))
	}
	return nil
}

// TestUsedByRevisions checks that the objects that revisions use are read from the API server, because the cache may
// lack a revision.
func TestUsedByRevisions(t *testing.T) {
	older, newer := &appsv1.ReplicaSet{}, &appsv1.ReplicaSet{}
	server := &pageLister{pages: []client.Object{newer, older}}
	older.Spec.Template.Spec.ServiceAccountName = "my-sa"
	newer.Spec.Template.Spec = corev1.PodSpec{
		Containers: []corev1.Container{{Env: []corev1.EnvVar{{Name: "A", ValueFrom: &corev1.EnvVarSource{
			SecretKeyRef: &corev1.SecretKeySelector{LocalObjectReference: corev1.LocalObjectReference{Name: "my-storage"}},
		}}}}},
		Volumes: []corev1.Volume{{VolumeSource: corev1.VolumeSource{ConfigMap: &corev1.ConfigMapVolumeSource{
			LocalObjectReference: corev1.LocalObjectReference{Name: "my-ca-bundle"},
		}}}},
	}
	stack := &v1alpha2.LlamaStackDistribution{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "my"}}
	used, err := (&Reconciler{direct: server}).usedByRevisions(t.Context(), stack)
	testutil.Must(t, err)
	kind := corev1.SchemeGroupVersion.WithKind
	want := map[apply.Child]bool{
		{Kind: kind(kindServiceAccount), Name: "my-sa"}: true, {Kind: kind(kindSecret), Name: "my-storage"}: true,
		{Kind: kind(kindConfigMap), Name: "my-ca-bundle"}: true,
	}
	if diff := cmp.Diff(want, used); diff != "" || server.lists != 2 {
		t.Errorf("used objects after %d lists (-want +got):\n%s", server.lists, diff)
	}
}

// TestPrune checks which children are deleted: none that a revision uses, none that exposes the stack while its
// exposure is kept, and none that makes Gateways verify the server while pods serve HTTPS.
func TestPrune(t *testing.T) {
	own := testutil.NewStack(t, `{distribution: {name: starter}}`)
	meta := func(name string) metav1.ObjectMeta { return testutil.ChildMeta(own, name) }
	revision := &appsv1.ReplicaSet{ObjectMeta: meta("my-1")}
	revision.Labels = names.Selector("my")
	revision.Spec.Template.Spec.Volumes = []corev1.Volume{{VolumeSource: corev1.VolumeSource{
		ConfigMap: &corev1.ConfigMapVolumeSource{LocalObjectReference: corev1.LocalObjectReference{Name: "my-used"}},
	}}}
	for name, tc := range map[string]struct {
		keepsExposure, podsServeTLS bool
		want                        string
	}{
		"nothing else is kept": {want: "my-ingress my-network-policy my-server-ca my-unused"},
		"the exposure is kept": {keepsExposure: true, want: "my-network-policy my-unused"},
		"the pods serve HTTPS": {podsServeTLS: true, want: "my-ingress my-network-policy my-unused"},
	} {
		f := newFixture(t,
			&corev1.ConfigMap{ObjectMeta: meta("my-used")}, &corev1.ConfigMap{ObjectMeta: meta("my-unused")},
			&corev1.ConfigMap{ObjectMeta: meta("my-server-ca")}, &networkingv1.Ingress{ObjectMeta: meta("my-ingress")},
			&networkingv1.NetworkPolicy{ObjectMeta: meta("my-network-policy")})
		s, err := f.runSteps(t, own, "ownership")
		testutil.Must(t, err)
		f.createObjects(t, revision.DeepCopy())
		testutil.Must(t, f.prune(t.Context(), own, &workload{}, &s.owned, tc.keepsExposure, tc.podsServeTLS))
		slices.Sort(f.writes)
		if got := strings.ReplaceAll(strings.Join(f.writes, " "), "delete ", ""); got != tc.want {
			t.Errorf("%s: deleted %s, want %s", name, got, tc.want)
		}
	}
}

// TestRevisionsWithoutADeployment checks that a ReplicaSet is a revision even if there is no Deployment, so that the
// objects that it uses are kept.
func TestRevisionsWithoutADeployment(t *testing.T) {
	w := &workload{ReplicaSets: []appsv1.ReplicaSet{{ObjectMeta: metav1.ObjectMeta{Name: "my-1"}}}}
	if got := revisions(w); len(got) != 1 || got[0].Name != "my-1" {
		t.Errorf("revisions %+v, want the ReplicaSet", got)
	}
}

// TestExposes checks which children expose a stack, or belong to such a child. These children are kept while the
// exposure settings are unknown.
func TestExposes(t *testing.T) {
	kind := corev1.SchemeGroupVersion.WithKind
	stack := &v1alpha2.LlamaStackDistribution{ObjectMeta: metav1.ObjectMeta{Namespace: "team", Name: "my"}}
	for child, want := range map[apply.Child]bool{
		{Kind: ingressKind, Name: "my-ingress"}:                          true,
		{Kind: render.HTTPRouteKind, Name: "my-httproute"}:               true,
		{Kind: render.BackendTLSPolicyKind, Name: "my-backendtlspolicy"}: true,
		{Kind: kind(kindConfigMap), Name: "my-server-ca"}:                true,
		{Kind: kind(kindConfigMap), Name: "my-config-0123abcd"}:          false,
		{Kind: kind(kindSecret), Name: "my-server-ca"}:                   false,
		{Kind: kind("Service"), Name: "my-service"}:                      false,
	} {
		if got := exposes(stack, child); got != want {
			t.Errorf("%s %q: %v, want %v", child.Kind.Kind, child.Name, got, want)
		}
	}
}
