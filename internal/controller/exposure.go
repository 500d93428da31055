package controller

import (
	"context"
	"slices"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	ctrlevent "sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
)

// exposedStack says that the spec asks for anything of the network: what may
// change with how stacks are exposed.
func exposedStack(stack *v1alpha2.LlamaStackDistribution) bool { return stack.Spec.Networking != nil }

// wakeExposed wakes the stacks that a kind coming or going concerns.
func (r *Reconciler) wakeExposed(into chan<- ctrlevent.GenericEvent) func(context.Context) {
	return func(ctx context.Context) {
		for _, request := range r.stacksWhere(ctx, exposedStack) {
			stack := &v1alpha2.LlamaStackDistribution{}
			stack.Namespace, stack.Name = request.Namespace, request.Name
			select {
			case into <- ctrlevent.GenericEvent{Object: stack}:
			case <-ctx.Done():
				return
			}
		}
	}
}

// prunedKinds are those that the cluster serves.
func (r *Reconciler) prunedKinds() []schema.GroupVersionKind {
	return slices.DeleteFunc(render.PrunedKinds(), func(kind schema.GroupVersionKind) bool {
		return r.apis.has(kind) && !r.apis.serves(kind)
	})
}

// keepsExposure says that a child stays because nobody knows how stacks are to be
// exposed, or because what should take its place was refused.
func (s *state) keepsExposure(child apply.Child) bool {
	return (s.cluster.ExposureUnknown || s.refusedExposure()) && slices.Contains(render.ExposureKinds(), child.Kind)
}

// routeURL is where the server is reached from outside, as far as it is known.
func (s *state) routeURL() string {
	exposure := s.exposure()
	if exposure == nil {
		return ""
	}
	live := exposure.Object
	host, scheme := s.planned.Hostname, "http"
	switch s.planned.Exposure {
	case render.RouteKind:
		scheme = "https"
		if host == "" {
			host, _, _ = unstructured.NestedString(live, "spec", "host")
		}
	case render.HTTPRouteKind:
		if host == "" {
			return "" // the Gateway's listeners know
		}
		scheme = "https"
	default:
		if tls, _, _ := unstructured.NestedSlice(live, "spec", "tls"); len(tls) > 0 {
			scheme = "https"
		}
		if host == "" {
			host = loadBalancer(live)
		}
	}
	if host == "" {
		return ""
	}
	return scheme + "://" + host
}

// exposure is what exposes the stack, nil when nothing does.
func (s *state) exposure() *unstructured.Unstructured {
	i := slices.IndexFunc(s.applied, func(a apply.Applied) bool { return a.Kind == s.planned.Exposure })
	if i < 0 {
		return nil
	}
	live, err := s.applied[i].Content()
	if err != nil {
		return nil // of a kind of Kubernetes' own, so it converts
	}
	return live
}

// loadBalancer is the address that an ingress controller gave.
func loadBalancer(ingress map[string]any) string {
	points, _, _ := unstructured.NestedSlice(ingress, "status", "loadBalancer", "ingress")
	for _, point := range points {
		fields, _ := point.(map[string]any)
		for _, name := range []string{"hostname", "ip"} {
			if address, _ := fields[name].(string); address != "" {
				return address
			}
		}
	}
	return ""
}
