package kube

import (
	"context"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// Deployment reads the Deployment of a stack. It returns nil if the Deployment does not exist.
func (c *Cluster) Deployment(ctx context.Context, stack client.Object) (*appsv1.Deployment, error) {
	found := &appsv1.Deployment{}
	key := client.ObjectKey{Namespace: stack.GetNamespace(), Name: names.Deployment(stack.GetName())}
	if err := c.Get(ctx, key, found); err != nil {
		return nil, client.IgnoreNotFound(err)
	}
	return found, nil
}

// Deployments lists Deployments. The result contains no Deployments after an error.
func (c *Cluster) Deployments(ctx context.Context, options ...client.ListOption) (*appsv1.DeploymentList, error) {
	found := &appsv1.DeploymentList{}
	return found, c.List(ctx, found, options...)
}

// EachDeployment lists Deployments in pages, because each can need 15 MB of memory.
func (c *Cluster) EachDeployment(
	ctx context.Context, take func(*appsv1.Deployment), options ...client.ListOption,
) error {
	page := &appsv1.DeploymentList{}
	return c.Pages(ctx, page, func() error {
		for i := range page.Items {
			take(&page.Items[i])
		}
		return nil
	}, append(slices.Clip(options), client.Limit(stacksPerPage))...)
}

// Child reads a whole Deployment, or the metadata of any other object. It returns nil if the object does not exist.
func (c *Cluster) Child(
	ctx context.Context, kind schema.GroupVersionKind, namespace, name string,
) (client.Object, error) {
	var found client.Object = &metav1.PartialObjectMetadata{}
	if kind.Kind == "Deployment" {
		found = &appsv1.Deployment{}
	}
	found.GetObjectKind().SetGroupVersionKind(kind)
	err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: name}, found)
	switch {
	case apierrors.IsNotFound(err), meta.IsNoMatchError(err):
		return nil, nil
	case err != nil:
		return nil, err
	default:
		return found, nil
	}
}

// OperatorLabels are on the operator's Deployment, in the manifests and in the chart.
var OperatorLabels = client.MatchingLabels{"app.kubernetes.io/name": "llama-stack-k8s-operator"}
