package controller

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/util/workqueue"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/hostname"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/profile"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/validate"
)

const (
	// fieldInstance is the index of objects by the stack in their label.
	fieldInstance = "instance"
	// fieldClaim is the index of events by the name of the PersistentVolumeClaim that they are about.
	fieldClaim = "claim"
	// fieldHost is the index of stacks by the host names that they use or request. In the index, anyDomain replaces the
	// cluster's domain at the end of a host name.
	fieldHost = "host"
	// anyDomain represents the cluster's domain in an index, because the domain may change with the operator's ConfigMap,
	// but an index cannot change. No valid host name ends with anyDomain. A lookup must also compare the full host name.
	anyDomain = "*"
	// noHost represents the absence of a host name in an index. No valid host name contains a space.
	noHost = "no host"

	// indexRetry is the interval between attempts to add an index while its kind is not served.
	indexRetry = 2 * time.Second
)

// addIndexes adds the indexes that the cache uses to find the objects of a stack without scanning all objects.
func addIndexes(ctx context.Context, indexer client.FieldIndexer) error {
	for _, object := range Watched() {
		field, value := fieldInstance, instanceOf
		switch object.(type) {
		case *v1alpha2.LlamaStackDistribution: // see hostIndex
			continue
		case *corev1.Event:
			field, value = fieldClaim, claimOf
		}
		if err := indexer.IndexField(ctx, object, field, value); err != nil {
			return fmt.Errorf("index %T by %s: %w", object, field, err)
		}
	}
	return nil
}

// hostIndex returns a source that adds the index of stacks by host name. hostIndex returns a source because workers
// start only after all sources have started. Stacks cannot be indexed before their definition is installed, which may
// happen after the operator starts.
func (r *Reconciler) hostIndex(indexer client.FieldIndexer) source.Source {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	return source.Func(func(ctx context.Context, _ queue) error {
		// The poll returns an error only if the context has ended. It repeats the call after any other error, and the watch
		// of stacks reports the problem.
		_ = wait.PollUntilContextCancel(ctx, indexRetry, true, func(ctx context.Context) (bool, error) {
			return indexer.IndexField(ctx, &v1alpha2.LlamaStackDistribution{}, fieldHost, r.hostsOf) == nil, nil
		})
		return nil
	})
}

func instanceOf(object client.Object) []string {
	if stack := object.GetLabels()[names.LabelInstance]; stack != "" {
		return []string{stack}
	}
	return nil
}

func claimOf(object client.Object) []string {
	event, ok := object.(*corev1.Event)
	if !ok {
		return nil
	}
	return []string{event.InvolvedObject.Name}
}

// hostsOf returns the host name that a stack requests, and the host name with which it is exposed.
func (r *Reconciler) hostsOf(object client.Object) []string {
	stack, ok := object.(*v1alpha2.LlamaStackDistribution)
	if !ok {
		return nil
	}
	cluster := render.Cluster{Ingress: render.Ingress{Domain: anyDomain}}
	hosts := []string{r.exposures.hostname(stack, cluster), hostname.Served(stack)}
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

// indexedCache uses the index to list objects that are selected by the label of a stack.
type indexedCache struct{ client.Reader }

// List reads objects.
func (c indexedCache) List(ctx context.Context, list client.ObjectList, options ...client.ListOption) error {
	asked := (&client.ListOptions{}).ApplyOptions(options)
	if asked.LabelSelector != nil {
		if stack, ok := asked.LabelSelector.RequiresExactMatch(names.LabelInstance); ok {
			options = append(slices.Clip(options), client.MatchingFields{fieldInstance: stack})
		}
	}
	return c.Reader.List(ctx, list, options...)
}
