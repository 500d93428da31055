package rollout_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/manager"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const (
	patience = 60 * time.Second
	// healthAnnotation is a pod annotation. A pod becomes ready unless the value is "ill".
	healthAnnotation = "test/health"
	ill              = "ill"
)

// cluster is an API server with the operator and with the controllers that act on the objects of a stack.
type cluster struct {
	*testutil.Cluster

	log *testutil.Log
	// stopped contains the namespaces in which no kubelet sets the state of pods.
	stopped sync.Map
}

func startCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{log: &testutil.Log{}}
	ctrl.SetLogger(zap.New(zap.WriteTo(c.log)))
	c.Cluster = testutil.StartCluster(t, testutil.Options{})
	testutil.Must(t, c.Plane.InstallRights())
	testutil.RunControllers(t, c.Kubeconfig, []string{
		"deployment-controller", "replicaset-controller", "garbage-collector-controller", "namespace-controller",
		"horizontal-pod-autoscaler-controller", "persistentvolumeclaim-protection-controller", "resourcequota-controller",
	}, "--horizontal-pod-autoscaler-sync-period=1s")
	c.runOperator(t)
	c.RunKubelet(t, c.stateOf)
	return c
}

// runOperator runs the operator with the shipped ServiceAccount. The operator's requests to servers fail, because there
// are no servers.
func (c *cluster) runOperator(t *testing.T) {
	t.Helper()
	options := manager.Options{
		MetricsBindAddress: "0", HealthProbeBindAddress: "0", QPS: 1000, Burst: 1000, Concurrency: 4,
		AutoscalerPatience: time.Second,
		DialServer: func(context.Context, string, string) (net.Conn, error) {
			return nil,
				errors.New("there is no server")
		},
	}
	mgr, err := manager.New(t.Context(), c.Plane.As(names.OperatorServiceAccount), options, "rollout",
		func(string) string { return "" })
	testutil.Must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Errorf("the operator ended with: %v", err)
		}
		if t.Failed() {
			t.Logf("log of the operator:\n%s", c.log.String())
		}
	})
}

// stateOf returns the state of a pod according to its annotation, or nil if the kubelet of its namespace is stopped.
func (c *cluster) stateOf(pod *corev1.Pod) *corev1.PodStatus {
	if _, stopped := c.stopped.Load(pod.Namespace); stopped {
		return nil
	}
	return new(statusOf(pod))
}

func statusOf(pod *corev1.Pod) corev1.PodStatus {
	container := corev1.ContainerStatus{Name: pod.Spec.Containers[0].Name, Image: pod.Spec.Containers[0].Image}
	if pod.Annotations[healthAnnotation] == ill && pod.Spec.RestartPolicy == corev1.RestartPolicyNever {
		container.State.Terminated = &corev1.ContainerStateTerminated{ExitCode: 7}
		return corev1.PodStatus{Phase: corev1.PodFailed, ContainerStatuses: []corev1.ContainerStatus{container}}
	}
	if pod.Annotations[healthAnnotation] == ill {
		container.State.Waiting = &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff"}
		container.LastTerminationState.Terminated = &corev1.ContainerStateTerminated{ExitCode: 7}
		container.RestartCount = 3
		return corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{container}}
	}
	container.Ready, container.State.Running = true, &corev1.ContainerStateRunning{}
	ready := corev1.ConditionTrue
	if len(pod.Spec.ReadinessGates) > 0 { // no test sets the condition of a readiness gate
		ready = corev1.ConditionFalse
	}
	return corev1.PodStatus{
		Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{container},
		Conditions: []corev1.PodCondition{
			{Type: corev1.ContainersReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()},
			{Type: corev1.PodReady, Status: ready, LastTransitionTime: metav1.Now()},
		},
	}
}

// bench is the cluster with the namespace of one test.
type bench struct {
	*cluster
	namespace string
}

func (c *cluster) newBench(t *testing.T) *bench {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "rollout-"}}
	testutil.Must(t, c.Create(t.Context(), namespace))
	return &bench{c, namespace.Name}
}

// stopKubelet stops the kubelet in the test's namespace. New pods remain Pending until startKubelet starts it again.
func (b *bench) stopKubelet() { b.stopped.Store(b.namespace, true) }

func (b *bench) startKubelet() { b.stopped.Delete(b.namespace) }

// apply writes a stack.
func (b *bench) apply(t *testing.T, name, spec string) {
	t.Helper()
	stack := &v1alpha2.LlamaStackDistribution{}
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error { // the operator can write the status at the same time
		stack.Namespace, stack.Name = b.namespace, name
		err := b.Get(t.Context(), client.ObjectKeyFromObject(stack), stack)
		if client.IgnoreNotFound(err) != nil {
			return err
		}
		stack.Spec = v1alpha2.LlamaStackDistributionSpec{}
		if err := yaml.UnmarshalStrict([]byte(spec), &stack.Spec); err != nil {
			return err
		}
		if err != nil {
			return b.Create(t.Context(), stack)
		}
		return b.Update(t.Context(), stack)
	})
	testutil.Must(t, err)
}

func (b *bench) get(t *testing.T, name string, into client.Object) {
	t.Helper()
	testutil.Must(t, b.Get(t.Context(), client.ObjectKey{Namespace: b.namespace, Name: name}, into))
}

// eventually polls until the function check returns nil, and fails the test if this takes longer than the constant
// patience.
func eventually(t *testing.T, check func() error) {
	t.Helper()
	testutil.Within(t, patience, check)
}

// condition waits until the stack has a condition with this reason, and returns the condition.
func (b *bench) condition(t *testing.T, stack, name, reason string) metav1.Condition {
	t.Helper()
	var found metav1.Condition
	eventually(t, func() error {
		object := &v1alpha2.LlamaStackDistribution{}
		if err := b.Get(t.Context(), client.ObjectKey{Namespace: b.namespace, Name: stack}, object); err != nil {
			return err
		}
		for _, condition := range object.Status.Conditions {
			if condition.Type == name && condition.Reason == reason && condition.ObservedGeneration == object.Generation {
				found = condition
				return nil
			}
		}
		return fmt.Errorf("there is no condition %s with reason %s for generation %d in %+v", name, reason, object.Generation, object.Status.Conditions)
	})
	return found
}

// kubectl runs the real kubectl in the test's namespace.
func (b *bench) kubectl(t *testing.T, arguments ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), testutil.Kubectl(),
		append([]string{"--kubeconfig=" + b.Kubeconfig, "--namespace=" + b.namespace}, arguments...)...)
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(arguments, " "), err, output)
	}
}
