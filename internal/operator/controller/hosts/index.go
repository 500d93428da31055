package hosts

import (
	"context"
	"slices"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	"k8s.io/utils/lru"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/hostname"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/profile"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/validate"
)

const (
	// field is the index of stacks by the host names that they use or request. In the index, anyDomain replaces the
	// cluster's domain at the end of a host name.
	field = "host"
	// anyDomain represents the cluster's domain in an index, because the domain may change with the operator's ConfigMap,
	// but an index cannot change. No valid host name ends with anyDomain. A lookup must also compare the full host name.
	anyDomain = "*"
	// noHost represents the absence of a host name in an index. No valid host name contains a space.
	noHost = "no host"

	// indexRetry is the interval between attempts to add an index while its kind is not served.
	indexRetry = 2 * time.Second
)

// Index returns a source that adds the index of stacks by host name. Index returns a source because workers
// start only after all sources have started. Stacks cannot be indexed before their definition is installed, which may
// happen after the operator starts.
func (h *Hosts) Index(indexer client.FieldIndexer) source.Source {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	return source.Func(func(ctx context.Context, _ queue) error {
		// The poll returns an error only if the context has ended. It repeats the call after any other error, and the watch
		// of stacks reports the problem.
		_ = wait.PollUntilContextCancel(ctx, indexRetry, true, func(ctx context.Context) (bool, error) {
			return indexer.IndexField(ctx, &v1alpha2.LlamaStackDistribution{}, field, h.Of) == nil, nil
		})
		return nil
	})
}

// Of returns the host name that a stack requests, and the host name with which it is exposed.
func (h *Hosts) Of(object client.Object) []string {
	stack, ok := object.(*stack)
	if !ok {
		return nil
	}
	cluster := render.Cluster{Ingress: render.Ingress{Domain: anyDomain}}
	hosts := []string{plan.Hostname(stack, h.exposures.of(stack), nil, cluster), hostname.Served(stack)}
	if mayLackHost(stack) {
		hosts = append(hosts, noHost)
	}
	slices.Sort(hosts)
	if hosts = slices.Compact(hosts); hosts[0] == "" {
		hosts = hosts[1:]
	}
	if len(hosts) == 0 {
		return nil
	}
	return hosts
}

// mayLackHost reports whether a stack may be exposed without a host name, according to its metadata and its status.
func mayLackHost(stack *stack) bool {
	label, _, _ := strings.Cut(hostname.Served(stack), ".")
	return profile.Of(stack.Annotations).NoHostname && label != names.HostLabel(stack.Name, stack.Namespace) &&
		(stack.Spec.Networking != nil || stack.Annotations[validate.AnnotationOmittedSpec] != "")
}

// hostsIn returns the index values of the stacks that use or request the host name, in a cluster with this domain. The
// host name and the domain can be empty.
func hostsIn(host, domain string) []string {
	if host == "" {
		return []string{noHost}
	}
	if label, of := strings.CutSuffix(host, "."+domain); of && domain != "" {
		return []string{host, label + "." + anyDomain}
	}
	return []string{host}
}

// rememberedExposures is the number of versions of stacks whose host names exposures remembers.
const rememberedExposures = 20_000

// exposures decodes `spec.networking.expose` once for each version of a stack. The index and the event handler decode
// each version of a stack, and a reconcile needs the host names of all other stacks with the same host name, but the
// text can have 256 KiB. The result contains only what a host name depends on.
//
// The generation does not identify the text. A v1alpha1 client can change it with the annotation for fields that
// v1alpha1 does not have, and the API server then keeps the generation, because the spec is the same in v1alpha1.
type exposures struct {
	known  *lru.Cache // exposureKey → *v1alpha2.ExposeSpec
	decode func(*v1alpha2.LlamaStackDistributionSpec) *v1alpha2.ExposeSpec
}

type exposureKey struct {
	uid     types.UID
	version string
}

// of returns the exposure that a stack requests, without annotations, or nil if the stack is not exposed.
func (e *exposures) of(stack *stack) *v1alpha2.ExposeSpec {
	if stack.Spec.Networking == nil {
		return nil
	}
	key := exposureKey{stack.UID, stack.ResourceVersion}
	if known, ok := e.known.Get(key); ok {
		return known.(*v1alpha2.ExposeSpec)
	}
	wanted := e.decode(&stack.Spec)
	switch {
	case wanted == nil:
	case len(wanted.Hostname) > validation.DNS1123SubdomainMaxLength: // no stack is exposed with such a host name
		wanted = nil
	default:
		wanted = &v1alpha2.ExposeSpec{Hostname: wanted.Hostname}
	}
	if stack.ResourceVersion != "" { // an object that is not from an API server has no version
		e.known.Add(key, wanted)
	}
	return wanted
}
