package observe

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"net/url"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/probe"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

// locate returns the address of a pod of the target's Deployment, from the caches. It does not use the Service: a
// tenant can make a Service lead to any address, and the operator passes the NetworkPolicies of all stacks.
func (o *Observer) locate(ctx context.Context, target probe.Target) (netip.Addr, error) {
	var sets appsv1.ReplicaSetList
	var pods corev1.PodList
	for _, list := range []client.ObjectList{&sets, &pods} {
		err := o.cache.List(ctx, list, client.InNamespace(target.Stack.Namespace),
			client.MatchingLabels(names.Selector(target.Stack.Name)), client.UnsafeDisableDeepCopy)
		if err != nil {
			return netip.Addr{}, fmt.Errorf("list the cached pods of the server: %w", err)
		}
	}
	serving := status.ServingPods(target.Deployment, sets.Items, pods.Items)
	if len(serving) == 0 {
		return netip.Addr{}, errors.New("no pod of the server is ready")
	}
	for i := range serving {
		if address, err := netip.ParseAddr(serving[i].Status.PodIP); err == nil && status.HasOwnAddress(&serving[i]) {
			return address, nil
		}
	}
	return netip.Addr{}, probe.ErrHostNetwork
}

// apiServerAddress returns the address of the API server in the operator's own configuration, or nothing if the
// configuration contains a name.
func apiServerAddress(host string) []netip.Addr {
	if at, err := url.Parse(host); err == nil && at.Host != "" {
		host = at.Hostname()
	}
	address, err := netip.ParseAddr(host)
	if err != nil {
		return nil
	}
	return []netip.Addr{address.Unmap()}
}
