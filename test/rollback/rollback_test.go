package rollback_test

import (
	"context"
	"os/exec"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const (
	namespace = "team-a"
	patience  = 30 * time.Second
)

func TestRollback(t *testing.T) {
	c := startCluster(t)
	one := newStack(t)
	c.reconcile(t, one, rollout.Changed)
	c.reconcile(t, one, rollout.Unchanged)

	two := change(one,
		func(s *v1alpha2.LlamaStackDistributionSpec) { s.Networking = &v1alpha2.NetworkingSpec{Port: 9000} })
	c.reconcile(t, two, rollout.Changed)

	c.kubectl(t, "rollout", "undo", "deployment/demo")
	c.reconcile(t, two, rollout.RolledBack)
	if got := c.port(t); got != v1alpha2.DefaultPort {
		t.Errorf("the rolled back pods listen on port %d", got)
	}

	replicas := int32(2)
	scaled := change(two, func(s *v1alpha2.LlamaStackDistributionSpec) {
		s.Workload = &v1alpha2.WorkloadSpec{Replicas: &replicas}
	})
	c.reconcile(t, scaled, rollout.RolledBack)
	if got := *c.deployment(t.Context(), t).Spec.Replicas; got != replicas {
		t.Errorf("a rolled back stack has %d replicas, want %d", got, replicas)
	}

	c.kubectl(t, "rollout", "undo", "deployment/demo")
	c.reconcile(t, scaled, rollout.Unchanged)
	if got := c.port(t); got != 9000 {
		t.Errorf("the pods listen on port %d", got)
	}

	c.kubectl(t, "rollout", "restart", "deployment/demo")
	c.reconcile(t, scaled, rollout.Unchanged)

	c.kubectl(t, "set", "image", "deployment/demo", "llama-stack=registry.example.com/evil:1")
	c.reconcile(t, scaled, rollout.Unchanged)
	if got := c.deployment(t.Context(), t).Spec.Template.Spec.Containers[0].Image; strings.Contains(got, "evil") {
		t.Error("an edit was not reverted")
	}
}

// If another version of the operator wrote a pod template, the operator does not change the template until a user
// changes the spec or restarts the stack's Deployment.
func TestKeptTemplate(t *testing.T) {
	c := startCluster(t)
	stack := newStack(t)
	rendered := c.build(t, stack).Rendered.Deployment
	rendered.Spec.Template.Spec.Containers[0].WithWorkingDir("/older")
	rendered.Annotations, rendered.Spec.Template.Annotations = nil, nil
	if err := c.Apply(t.Context(), rendered, client.FieldOwner(names.FieldManager)); err != nil {
		t.Fatal(err)
	}
	c.synced(t)
	c.reconcile(t, stack, rollout.KeepTemplate)
	c.reconcile(t, stack, rollout.KeepTemplate)
	if got := c.deployment(t.Context(), t).Spec.Template.Spec.Containers[0].WorkingDir; got != "/older" {
		t.Errorf("working directory %q", got)
	}
	c.kubectl(t, "rollout", "restart", "deployment/demo")
	c.reconcile(t, stack, rollout.Changed)
	if got := c.deployment(t.Context(), t).Spec.Template.Spec.Containers[0].WorkingDir; got != "" {
		t.Errorf("working directory %q after a restart", got)
	}
	c.reconcile(t, stack, rollout.Unchanged)
}

func newStack(t *testing.T) *v1alpha2.LlamaStackDistribution {
	t.Helper()
	stack := &v1alpha2.LlamaStackDistribution{}
	stack.Name, stack.Namespace, stack.Generation, stack.UID = "demo", namespace, 1, "demo-uid"
	stack.Spec.Distribution.Name = "starter"
	return stack
}

func change(stack *v1alpha2.LlamaStackDistribution, edit func(*v1alpha2.LlamaStackDistributionSpec),
) *v1alpha2.LlamaStackDistribution {
	next := stack.DeepCopy()
	next.Generation++
	edit(&next.Spec)
	return next
}

// cluster is an API server with the Deployment controller, but without a node.
type cluster struct {
	*testutil.Cluster
}

func startCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{testutil.StartCluster(t, testutil.Options{Bare: true})}
	if err := c.Create(t.Context(), &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}); err != nil {
		t.Fatal(err)
	}
	testutil.RunControllers(t, c.Kubeconfig, []string{"deployment-controller", "replicaset-controller"})
	return c
}

func (c *cluster) build(t *testing.T, stack *v1alpha2.LlamaStackDistribution) *plan.Plan {
	t.Helper()
	resolved, err := distribution.Resolve("starter", "", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	// The owner does not exist. No garbage collector runs in this cluster, so the objects are not deleted.
	in, _ := intent.FromObject(stack)
	built, err := plan.Build(plan.Input{Object: stack, Intent: in, Distribution: resolved, OperatorVersion: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	return built
}

// reconcile makes and applies a rollout decision as the operator's controller does, and waits for the Deployment
// controller.
func (c *cluster) reconcile(t *testing.T, stack *v1alpha2.LlamaStackDistribution, want rollout.Outcome) {
	t.Helper()
	decision, err := rollout.Decide(c.deployment(t.Context(), t), c.replicaSets(t.Context(), t),
		c.build(t, stack).Rendered)
	if err != nil {
		t.Fatal(err)
	}
	if decision.Outcome != want {
		t.Fatalf("outcome %s (%s), want %s", decision.Outcome, decision.Message, want)
	}
	if err := c.Apply(t.Context(), decision.Deployment, client.FieldOwner(names.FieldManager),
		client.ForceOwnership); err != nil {
		t.Fatal(err)
	}
	c.synced(t)
}

func (c *cluster) kubectl(t *testing.T, arguments ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), testutil.Kubectl(),
		append([]string{"--kubeconfig=" + c.Kubeconfig, "--namespace=" + namespace}, arguments...)...)
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(arguments, " "), err, output)
	}
	c.synced(t)
}

// synced waits until the Deployment controller has observed the current Deployment, and has recorded its revision.
func (c *cluster) synced(t *testing.T) {
	t.Helper()
	err := wait.PollUntilContextTimeout(t.Context(), 20*time.Millisecond, patience, true,
		func(ctx context.Context) (bool, error) {
			live := c.deployment(ctx, t)
			if live.Status.ObservedGeneration < live.Generation {
				return false, nil
			}
			for _, set := range c.replicaSets(ctx, t) {
				const revision = "deployment.kubernetes.io/revision"
				if set.Annotations[revision] == live.Annotations[revision] && set.Annotations[revision] != "" {
					return set.Annotations[names.AnnotationRendered] == live.Annotations[names.AnnotationRendered], nil
				}
			}
			return false, nil
		})
	if err != nil {
		t.Fatalf("the Deployment controller did not observe the Deployment: %v", err)
	}
}

func (c *cluster) deployment(ctx context.Context, t *testing.T) *appsv1.Deployment {
	t.Helper()
	live := &appsv1.Deployment{}
	err := c.Get(ctx, client.ObjectKey{Namespace: namespace, Name: "demo"}, live)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	return live
}

func (c *cluster) replicaSets(ctx context.Context, t *testing.T) []appsv1.ReplicaSet {
	t.Helper()
	list := &appsv1.ReplicaSetList{}
	if err := c.List(ctx, list, client.InNamespace(namespace)); err != nil {
		t.Fatal(err)
	}
	return list.Items
}

func (c *cluster) port(t *testing.T) int32 {
	t.Helper()
	return c.deployment(t.Context(), t).Spec.Template.Spec.Containers[0].Ports[0].ContainerPort
}
