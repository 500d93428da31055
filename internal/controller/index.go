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
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
)

const (
	// fieldInstance is the stack that an object belongs to by its label.
	fieldInstance = "instance"
	// fieldClaim is the claim that an event is about.
	fieldClaim = "claim"
	// fieldHost is the host name that a stack asks for, of anyDomain where the
	// cluster's domain ends it.
	fieldHost = "host"
	// anyDomain stands in an index for the cluster's domain, which changes with the
	// operator's ConfigMap and an index does not. No valid host name ends with it;
	// who finds a stack by it asks for the name that it has.
	anyDomain = "*"

	// indexRetry is how often an index is tried whose kind is not served yet.
	indexRetry = 2 * time.Second
)

// addIndexes lets the cache find what belongs to a stack without looking at what
// belongs to all others.
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

// hostIndex lets the cache find the stacks of one host name. It is a source because
// workers start when all sources have, and their CustomResourceDefinition may come
// after the operator: until then nothing of stacks can be indexed.
func hostIndex(indexer client.FieldIndexer) source.Source {
	type queue = workqueue.TypedRateLimitingInterface[reconcile.Request]
	return source.Func(func(ctx context.Context, _ queue) error {
		// The only error is the end of the context, which is no error of ours; why
		// stacks cannot be watched is told by who watches them.
		_ = wait.PollUntilContextCancel(ctx, indexRetry, true, func(ctx context.Context) (bool, error) {
			return indexer.IndexField(ctx, &v1alpha2.LlamaStackDistribution{}, fieldHost, hostOf) == nil, nil
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

// hostOf is the host name that a stack asks for, a made-up one in both forms that it
// may have.
func hostOf(object client.Object) []string {
	stack, ok := object.(*v1alpha2.LlamaStackDistribution)
	if !ok {
		return nil
	}
	cluster := render.Cluster{Ingress: render.Ingress{Domain: anyDomain}}
	host := plan.Hostname(stack, cluster, false)
	if host == "" {
		return nil
	}
	return slices.Compact([]string{host, plan.Hostname(stack, cluster, true)})
}

// hostsIn are the values by which the stacks with a host name are found in a
// cluster of this domain; empty: it has none.
func hostsIn(host, domain string) []string {
	if label, of := strings.CutSuffix(host, "."+domain); of && domain != "" {
		return []string{host, label + "." + anyDomain}
	}
	return []string{host}
}

// indexedCache lists a stack's objects by the index when they are asked for by its
// label.
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
