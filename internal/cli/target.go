package cli

import (
	"context"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/forward"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

// target is a stack whose server a command connects to through a forwarded port.
type target struct {
	cluster *kube.Cluster
	stack   *v1alpha2.LlamaStackDistribution
}

// connectTo connects to the cluster, and returns the stack with the given name.
func connectTo(ctx context.Context, flags *kube.Flags, version, name string) (*target, error) {
	cluster, err := flags.Connect(version)
	if err != nil {
		return nil, err
	}
	stack, err := cluster.Stack(ctx, name)
	if err != nil {
		return nil, rejected(err)
	}
	return &target{cluster, stack}, nil
}

// rejected returns an error as a rejection, for which the exit code is 1.
func rejected(err error) error { return &rejection{summary: "error: " + err.Error()} }

// pods lists the ready pods of the server. It leaves out pods that only have the labels of the stack, because another
// user would receive the questions and the token. It also leaves out pods that use the network of their node, because
// the forwarded port would lead to the programs of the node.
func (t *target) pods(ctx context.Context) ([]corev1.Pod, error) {
	var deployment appsv1.Deployment
	var sets appsv1.ReplicaSetList
	var pods corev1.PodList
	key := client.ObjectKey{Namespace: t.stack.Namespace, Name: names.Deployment(t.stack.Name)}
	err := t.cluster.Get(ctx, key, &deployment)
	if apierrors.IsNotFound(err) || err == nil && !metav1.IsControlledBy(&deployment, t.stack) {
		return nil, nil
	}
	if err != nil {
		return nil, kube.Explain(err, "get", appsv1.Resource("deployments"), t.stack.Namespace)
	}
	for list, resource := range map[client.ObjectList]schema.GroupResource{
		&sets: appsv1.Resource("replicasets"), &pods: corev1.Resource("pods"),
	} {
		err := t.cluster.List(ctx, list, client.InNamespace(key.Namespace),
			client.MatchingLabels(names.Selector(t.stack.Name)))
		if err != nil {
			return nil, kube.Explain(err, "list", resource, key.Namespace)
		}
	}
	return slices.DeleteFunc(status.ServingPods(deployment.UID, sets.Items, pods.Items), func(pod corev1.Pod) bool {
		return !status.HasOwnAddress(&pod)
	}), nil
}

// open forwards a local port to a pod.
func (t *target) open(ctx context.Context, pod *corev1.Pod, local uint16) (*forward.Session, error) {
	session, err := forward.Open(ctx, t.cluster.Config, pod, local, render.Port(&t.stack.Spec))
	return session, kube.Explain(err, "create", schema.GroupResource{Resource: "pods/portforward"}, t.stack.Namespace)
}

// connect forwards a free local port to a ready pod.
func (t *target) connect(ctx context.Context) (*forward.Session, error) {
	pods, err := t.pods(ctx)
	if err != nil {
		return nil, err
	}
	pod := forward.Choose(pods)
	if pod == nil {
		return nil, t.explain(forward.ErrNoPod)
	}
	return t.open(ctx, pod, 0)
}

// explain adds the reason to the error for a stack without a ready pod.
func (t *target) explain(err error) error {
	if !errors.Is(err, forward.ErrNoPod) {
		return err
	}
	why := "the operator has not reconciled the stack yet"
	ready := meta.FindStatusCondition(t.stack.Status.Conditions, v1alpha2.ConditionReady)
	switch {
	case t.stack.DeletionTimestamp != nil:
		why = "the stack is being deleted"
	case t.stack.Spec.Workload != nil && t.stack.Spec.Workload.Replicas != nil && *t.stack.Spec.Workload.Replicas == 0:
		why = "the stack is scaled to 0 replicas"
	case status.Cause(t.stack.Status.Conditions) != nil:
		cause := status.Cause(t.stack.Status.Conditions)
		why = cause.Reason + ": " + cause.Message
	case ready != nil && ready.Message != "":
		why = ready.Reason + ": " + ready.Message
	case ready != nil:
		why = ready.Reason
	}
	return fmt.Errorf("no pod of stack %q in namespace %q is ready: %s; see kubectl llamastack status %s -n %s",
		t.stack.Name, t.stack.Namespace, why, t.stack.Name, t.stack.Namespace)
}

// url returns the URL of the server on a forwarded port.
func (t *target) url(port uint16) string {
	scheme := "http"
	if render.TLSSecret(&t.stack.Spec) != "" {
		scheme = "https"
	}
	return fmt.Sprintf("%s://127.0.0.1:%d", scheme, port)
}
