package render

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
)

// Endpoint is the port and the protocol of a server.
type Endpoint struct {
	Port int32
	TLS  bool
}

// Endpoints returns the endpoints of the pods of a Deployment, according to the startup probes of its ReplicaSets. The
// parameter container is the name of the server's container. A ReplicaSet without pods, or without such a probe, has no
// endpoint.
func Endpoints(deployment *appsv1.Deployment, sets []appsv1.ReplicaSet, container string) []Endpoint {
	var found []Endpoint
	for i := range sets {
		set := &sets[i]
		hasPods := set.Status.Replicas > 0 || ptr.Deref(set.Spec.Replicas, 1) > 0
		if deployment == nil || !hasPods || !metav1.IsControlledBy(set, deployment) {
			continue
		}
		for c := range set.Spec.Template.Spec.Containers {
			if server := &set.Spec.Template.Spec.Containers[c]; server.Name == container {
				found = append(found, endpoints(server.StartupProbe)...)
			}
		}
	}
	return found
}

func endpoints(probe *corev1.Probe) []Endpoint {
	if probe == nil || probe.HTTPGet == nil || probe.HTTPGet.Port.IntVal == 0 {
		return nil
	}
	return []Endpoint{{Port: probe.HTTPGet.Port.IntVal, TLS: probe.HTTPGet.Scheme == corev1.URISchemeHTTPS}}
}

// PodsServeTLS reports whether clients must use HTTPS to reach the pods. While a rollout changes the protocol, clients
// reach the earlier pods, because the new pods are not ready yet.
func PodsServeTLS(in Input) bool {
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
