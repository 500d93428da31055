package render_test

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// TestEndpoints checks which pods count as running: those of a ReplicaSet of the Deployment that has pods, or that gets
// pods.
func TestEndpoints(t *testing.T) {
	deployment := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Name: "my", UID: "d"}}
	set := func(uid string, wanted, has, port int32, scheme corev1.URIScheme, portName string) appsv1.ReplicaSet {
		owner := metav1.OwnerReference{Kind: "Deployment", Name: "my", UID: types.UID(uid), Controller: new(true)}
		made := appsv1.ReplicaSet{
			ObjectMeta: metav1.ObjectMeta{OwnerReferences: []metav1.OwnerReference{owner}},
			Spec:       appsv1.ReplicaSetSpec{Replicas: &wanted}, Status: appsv1.ReplicaSetStatus{Replicas: has},
		}
		made.Spec.Template.Spec.Containers = []corev1.Container{{Name: "sidecar"}, {
			Name: "server", StartupProbe: &corev1.Probe{ProbeHandler: corev1.ProbeHandler{
				HTTPGet: &corev1.HTTPGetAction{Scheme: scheme},
			}}, Ports: []corev1.ContainerPort{{Name: "metrics", ContainerPort: 9}, {Name: portName, ContainerPort: port}},
		}}
		return made
	}
	sets := []appsv1.ReplicaSet{
		set("d", 0, 0, 1, "HTTP", "http"), set("d", 0, 1, 2, "HTTP", "http"), set("d", 1, 0, 3, "HTTPS", ""),
		set("other", 1, 1, 4, "HTTP", "http"), set("d", 1, 1, 5, "HTTP", "other"),
	}
	got := render.Endpoints(deployment, sets, "server")
	if diff := cmp.Diff([]render.Endpoint{{Port: 2}, {Port: 3, TLS: true}}, got); diff != "" {
		t.Errorf("endpoints (-want +got):\n%s", diff)
	}
	if got := render.Endpoints(nil, sets, "server"); got != nil {
		t.Errorf("without a Deployment: got %v, want none", got)
	}
}

// TestRunningPods checks that the objects which lead clients to the pods fit the pods that run, until a rollout of
// another port or protocol has replaced them.
func TestRunningPods(t *testing.T) {
	old, oldTLS := render.Endpoint{Port: 8321}, render.Endpoint{Port: 8321, TLS: true}
	for name, tc := range map[string]struct {
		running           []render.Endpoint
		compat, tls       bool
		target, ports     string
		annotated, podTLS bool
	}{
		"no pods":                      {target: "http", ports: "8400"},
		"no pods, HTTPS":               {tls: true, target: "http", ports: "8400", annotated: true, podTLS: true},
		"earlier port":                 {running: []render.Endpoint{old, {Port: 8400}}, target: "http", ports: "8321 8400"},
		"new pods only":                {running: []render.Endpoint{{Port: 8400}}, target: "http", ports: "8400"},
		"to HTTPS":                     {running: []render.Endpoint{old, {Port: 8400, TLS: true}}, tls: true, target: "http", ports: "8321 8400"},
		"to HTTPS, done":               {running: []render.Endpoint{{Port: 8400, TLS: true}}, tls: true, target: "http", ports: "8400", annotated: true, podTLS: true},
		"back to HTTP":                 {running: []render.Endpoint{oldTLS}, target: "http", ports: "8321 8400", annotated: true, podTLS: true},
		"v1alpha1: no pods":            {compat: true, target: "8400", ports: "8400"},
		"v1alpha1: earlier port":       {running: []render.Endpoint{{Port: 8400}, old}, compat: true, target: "8321", ports: "8321 8400"},
		"v1alpha1: earlier port, done": {running: []render.Endpoint{{Port: 8400}}, compat: true, target: "8400", ports: "8400"},
	} {
		t.Run(name, func(t *testing.T) {
			in := readInput(t, filepath.Join("testdata", "image-default", "in.yaml"))
			in.Stack.Spec.Networking = &v1alpha2.NetworkingSpec{Port: 8400}
			in.Running, in.Server.ServesTLS = tc.running, tc.tls
			in.Cluster.NetworkPolicies, in.Cluster.Ingress.ClassName = true, "nginx"
			in.Expose = &v1alpha2.ExposeSpec{Hostname: "a.example"}
			if tc.compat {
				in.Stack.Annotations = map[string]string{names.AnnotationCompat: names.CompatV1Alpha1}
			}
			objects, err := render.Objects(in)
			if err != nil {
				t.Fatal(err)
			}
			_, annotated := value(t, objects, "Ingress", "metadata", "annotations")
			got := fmt.Sprint(first(t, objects, "Service", "targetPort", "spec", "ports"), " | ",
				first(t, objects, "NetworkPolicy", "ports", "spec", "ingress"), " | ", annotated, render.PodsServeTLS(in))
			if want := fmt.Sprint(tc.target, " | ", tc.ports, " | ", tc.annotated, tc.podTLS); got != want {
				t.Errorf("target of the Service | ports of the NetworkPolicy | HTTPS: got %s, want %s", got, want)
			}
		})
	}
}

// first returns a field of the first item of a list, and of a list of ports their numbers.
func first(t *testing.T, objects []render.Object, kind, field string, path ...string) string {
	t.Helper()
	found, _ := value(t, objects, kind, path...)
	item := found.([]any)[0].(map[string]any)[field]
	ports, ok := item.([]any)
	if !ok {
		return fmt.Sprint(item)
	}
	var text string
	for i, port := range ports {
		if i > 0 {
			text += " "
		}
		text += fmt.Sprint(port.(map[string]any)["port"])
	}
	return text
}

func value(t *testing.T, objects []render.Object, kind string, path ...string) (any, bool) {
	t.Helper()
	for _, object := range objects {
		if object.GVK.Kind != kind {
			continue
		}
		sent, err := render.Unstructured(object)
		if err != nil {
			t.Fatal(err)
		}
		found, ok, err := unstructured.NestedFieldNoCopy(sent.Object, path...)
		if err != nil {
			t.Fatal(err)
		}
		return found, ok
	}
	t.Fatalf("there is no %s", kind)
	return nil, false
}
