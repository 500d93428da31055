package controller

import (
	"context"
	"fmt"

	networkingv1 "k8s.io/api/networking/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
)

// cluster is what the operator's ConfigMap says of every stack, and what the
// cluster serves.
func (r *Reconciler) cluster(ctx context.Context, s *state) (render.Cluster, error) {
	config, err := r.configFor(ctx, s)
	if err != nil {
		return render.Cluster{}, err
	}
	cluster := render.Cluster{
		OperatorNamespace: r.config.name.Namespace, NetworkPolicies: config.Features.NetworkPolicies,
		Ingress: render.Ingress(config.Ingress), Gateway: (*render.Gateway)(config.Gateway),
		Routes: r.apis.serves(render.RouteKind), HTTPRoutes: r.apis.serves(render.HTTPRouteKind),
		ExposureUnknown: config.Unknown(operatorconfig.KeyIngress) || config.Unknown(operatorconfig.KeyGateway),
	}
	if config.Unknown(operatorconfig.KeyFeatureFlags) {
		// Nobody knows whether it is wanted: one that is there stays.
		err := r.cache.Get(ctx, s.child(names.NetworkPolicy(s.object.Name)), &networkingv1.NetworkPolicy{})
		if client.IgnoreNotFound(err) != nil {
			return render.Cluster{}, fmt.Errorf("read cached NetworkPolicy: %w", err)
		}
		cluster.NetworkPolicies = err == nil
	}
	return cluster, nil
}
