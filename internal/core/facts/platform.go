package facts

import (
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// Constraints is the kind with which OpenShift assigns the uid, gid and fsGroup of pods. OpenShift rejects pods with
// other values. A cluster that serves this kind is OpenShift.
var Constraints = schema.GroupVersionKind{
	Group: "security.openshift.io", Version: "v1", Kind: "SecurityContextConstraints",
}

// Platform is what is known of a cluster.
type Platform struct {
	OpenShift bool
	// Serves reports whether the cluster serves one of the optional kinds. Nil means that this is not known. OpenShift is
	// then assumed to serve Routes, and a cluster with a configured Gateway to serve the kinds of the Gateway API.
	Serves func(schema.GroupVersionKind) bool
	// Related contains the images in the RELATED_IMAGE variables of the operator. Nil means that they are not known.
	Related distribution.Overrides
	// OperatorNamespace is the namespace of the operator. Empty means the namespace in the shipped manifests.
	OperatorNamespace string
}

// Cluster returns the settings in the operator's ConfigMap that apply to every stack in the cluster, and reports which
// of the optional kinds the cluster serves.
func (p Platform) Cluster(config operatorconfig.Config) render.Cluster {
	serves := func(kind schema.GroupVersionKind, assumed bool) bool {
		if p.Serves == nil {
			return assumed
		}
		return p.Serves(kind)
	}
	hasGateway := config.Gateway != nil
	return render.Cluster{
		OperatorNamespace: p.OperatorNamespace, NetworkPolicies: config.Features.NetworkPolicies,
		Ingress: render.Ingress(config.Ingress), Gateway: (*render.Gateway)(config.Gateway),
		Routes:             serves(render.RouteKind, p.OpenShift),
		HTTPRoutes:         serves(render.HTTPRouteKind, hasGateway),
		BackendTLSPolicies: serves(render.BackendTLSPolicyKind, hasGateway),
		ExposureUnknown:    config.Unknown(operatorconfig.KeyIngress) || config.Unknown(operatorconfig.KeyGateway),
	}
}
