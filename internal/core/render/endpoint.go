package render

import (
	"bytes"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// Endpoint is the port and the protocol of a server.
type Endpoint struct {
	Port int32
	TLS  bool
}

// Endpoints returns the endpoints of the pods of a Deployment, according to the templates of its ReplicaSets: the port
// of the server's container, and the protocol of its startup probe. The parameter container is the name of the
// container. A ReplicaSet without pods, or without such a port, has no endpoint.
func Endpoints(deployment *appsv1.Deployment, sets []appsv1.ReplicaSet, container string) []Endpoint {
	var found []Endpoint
	for i := range sets {
		set := &sets[i]
		hasPods := set.Status.Replicas > 0 || ptr.Deref(set.Spec.Replicas, 1) > 0
		if deployment == nil || !hasPods || !metav1.IsControlledBy(set, deployment) {
			continue
		}
		for c := range set.Spec.Template.Spec.Containers {
			server := &set.Spec.Template.Spec.Containers[c]
			if port := ServerPort(server.Ports); port != nil && server.Name == container {
				found = append(found, Endpoint{Port: port.ContainerPort, TLS: requestsTLS(server.StartupProbe)})
			}
		}
	}
	return found
}

// ServerContainer returns the container of the server, or nil if a pod has no such container.
func ServerContainer(stack *v1alpha2.LlamaStackDistribution, pod *corev1.PodSpec) *corev1.Container {
	name := names.ServerContainer(stack.Annotations)
	i := slices.IndexFunc(pod.Containers, func(c corev1.Container) bool { return c.Name == name })
	if i < 0 {
		return nil
	}
	return &pod.Containers[i]
}

// ServerImage returns the image of the server's container, or an empty string.
func ServerImage(stack *v1alpha2.LlamaStackDistribution, pod *corev1.PodSpec) string {
	if server := ServerContainer(stack, pod); server != nil {
		return server.Image
	}
	return ""
}

// ServerPort returns the port of the server: the one with its name or, in a template of an operator for v1alpha1, the
// first port without a name. It returns nil if there is no such port.
func ServerPort(ports []corev1.ContainerPort) *corev1.ContainerPort {
	for _, name := range []string{names.PortName, ""} {
		if i := slices.IndexFunc(ports, func(p corev1.ContainerPort) bool { return p.Name == name }); i >= 0 {
			return &ports[i]
		}
	}
	return nil
}

func requestsTLS(probe *corev1.Probe) bool {
	return probe != nil && probe.HTTPGet != nil && probe.HTTPGet.Scheme == corev1.URISchemeHTTPS
}

// PodsServeTLS reports whether clients must use HTTPS to reach the pods. While a rollout changes the protocol, clients
// reach the earlier pods, because the new pods are not ready yet. The user's own startup probe does not show the
// protocol.
func PodsServeTLS(in Input) bool {
	patch := intent.Overrides(&in.Stack.Spec).PodTemplate
	if patch != nil && bytes.Contains(patch.Raw, []byte("startupProbe")) {
		return in.Server.ServesTLS
	}
	for _, pods := range in.Running {
		if pods.TLS != in.Server.ServesTLS {
			return pods.TLS
		}
	}
	return in.Server.ServesTLS
}

// runningPort returns the port of the pods that clients reach. While a rollout changes the port, these are the earlier
// pods.
func runningPort(in Input) int32 {
	port := Port(&in.Stack.Spec)
	for _, pods := range in.Running {
		if pods.Port != port {
			return pods.Port
		}
	}
	return port
}
