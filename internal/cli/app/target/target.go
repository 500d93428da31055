package target

import (
	"context"
	"errors"
	"fmt"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/forward"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/server"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
)

// Failed extends a server error with the command that shows the server's log. It adds no command if the server refused
// the request, because the error then contains the reason.
func (t *Target) Failed(err error) error {
	if _, is := errors.AsType[*server.RefusedError](err); is {
		return app.Rejected(err)
	}
	return app.Rejected(fmt.Errorf("%w; to see the server log, run: kubectl llamastack logs %s -n %s", err,
		t.Stack.Name, t.Stack.Namespace))
}

// Target is a stack whose server a command connects to through a forwarded port.
type Target struct {
	Cluster *kube.Cluster
	Stack   *v1alpha2.LlamaStackDistribution
}

// Connect connects to the cluster, and returns the stack that the first argument names, or the only stack.
func Connect(ctx context.Context, flags *kube.Flags, version string, args []string) (*Target, error) {
	cluster, err := flags.Connect(version)
	if err != nil {
		return nil, err
	}
	name, err := cluster.Name(ctx, args)
	if err != nil {
		return nil, app.Rejected(err)
	}
	stack, err := cluster.Stack(ctx, name)
	if err != nil {
		return nil, app.Rejected(err)
	}
	return &Target{cluster, stack}, nil
}

// Pods lists the ready pods of the server. It leaves out pods that only have the labels of the stack, because another
// user would receive the questions and the token. It also leaves out pods that use the network of their node, because
// the forwarded port would lead to the programs of the node.
func (t *Target) Pods(ctx context.Context) ([]corev1.Pod, error) {
	deployment, err := t.Cluster.Deployment(ctx, t.Stack)
	if err != nil || deployment == nil || !metav1.IsControlledBy(deployment, t.Stack) {
		return nil, err
	}
	var sets appsv1.ReplicaSetList
	var pods corev1.PodList
	for _, list := range []client.ObjectList{&sets, &pods} {
		err := t.Cluster.List(ctx, list, client.InNamespace(t.Stack.Namespace),
			client.MatchingLabels(names.Selector(t.Stack.Name)))
		if err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(status.ServingPods(deployment.UID, sets.Items, pods.Items), func(pod corev1.Pod) bool {
		return !status.HasOwnAddress(&pod)
	}), nil
}

// Open forwards a local port to a pod.
func (t *Target) Open(ctx context.Context, pod *corev1.Pod, local uint16) (*forward.Session, error) {
	session, err := forward.Open(ctx, t.Cluster.Config, pod, local, render.Port(&t.Stack.Spec))
	return session, kube.Explain(err, "create", schema.GroupResource{Resource: "pods/portforward"}, t.Stack.Namespace)
}

// connect forwards a free local port to a ready pod.
func (t *Target) connect(ctx context.Context) (*forward.Session, error) {
	pods, err := t.Pods(ctx)
	if err != nil {
		return nil, err
	}
	pod := forward.Choose(pods)
	if pod == nil {
		return nil, t.Explain(forward.ErrNoPod)
	}
	return t.Open(ctx, pod, 0)
}

// Explain adds the reason to the error for a stack without a ready pod.
func (t *Target) Explain(err error) error {
	if !errors.Is(err, forward.ErrNoPod) {
		return err
	}
	why := "the operator has not reconciled the stack yet"
	ready := meta.FindStatusCondition(t.Stack.Status.Conditions, v1alpha2.ConditionReady)
	switch {
	case t.Stack.DeletionTimestamp != nil:
		why = "the stack is being deleted"
	case t.Stack.Spec.Workload != nil && t.Stack.Spec.Workload.Replicas != nil && *t.Stack.Spec.Workload.Replicas == 0:
		why = "the stack is scaled to 0 replicas"
	case status.Cause(t.Stack.Status.Conditions) != nil:
		cause := status.Cause(t.Stack.Status.Conditions)
		why = cause.Reason + ": " + cause.Message
	case ready != nil && ready.Message != "":
		why = ready.Reason + ": " + ready.Message
	case ready != nil:
		why = ready.Reason
	}
	return fmt.Errorf("no pod of stack %q in namespace %q is ready: %s; see kubectl llamastack status %s -n %s",
		t.Stack.Name, t.Stack.Namespace, why, t.Stack.Name, t.Stack.Namespace)
}

// URL returns the URL of the server on a forwarded port.
func (t *Target) URL(port uint16) string {
	scheme := "http"
	if render.TLSSecret(&t.Stack.Spec) != "" {
		scheme = "https"
	}
	return fmt.Sprintf("%s://127.0.0.1:%d", scheme, port)
}
