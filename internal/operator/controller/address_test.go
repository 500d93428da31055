package controller_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/controllertest"
)

// elsewhere changes a Service so that its name leads to a server of another tenant.
func elsewhere(service *corev1.Service) {
	service.Spec = corev1.ServiceSpec{
		Type: corev1.ServiceTypeExternalName, ExternalName: "victim-service.victim.svc.cluster.local",
	}
}

// TestServiceLeadsElsewhere checks that the operator connects only to the address of the stack's own pod, whatever the
// Service does. The tenant creates a Service for a stack that has none, or changes the Service of a paused stack.
func TestServiceLeadsElsewhere(t *testing.T) {
	for _, name := range []string{"older", "paused"} {
		t.Run(name, func(t *testing.T) {
			env := controllertest.NewEnvironment(t)
			server := env.StartServer(t, "0.7.3")
			env.Workers = true
			stack := env.NewStack(t, "my", `{distribution: {name: starter}}`)
			service := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Name: "my-service"}}
			if name == "older" {
				stack.Annotations = map[string]string{names.AnnotationCompat: names.CompatV1Alpha1}
				elsewhere(service)
				env.Create(t, service)
			}
			env.StartReconciler(t, env.Namespace)
			env.Create(t, stack)
			env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
			if name == "paused" {
				env.PatchStack(t, "my", func(s *v1alpha2.LlamaStackDistribution) {
					metav1.SetMetaDataAnnotation(&s.ObjectMeta, names.AnnotationPaused, "true")
				})
				env.WaitForCondition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentPaused)
				env.Get(t, "my-service", service)
				elsewhere(service)
				env.Update(t, service)
				controllertest.WaitUntil(t, func() error {
					condition := env.WaitForCondition(t, "my", v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonDeploymentPaused)
					if want := `. Service "my-service" was changed and does not lead to the pods of the stack`; !strings.HasSuffix(condition.Message, want) {
						return errors.New(condition.Message)
					}
					return nil
				})
			}
			env.MarkDeploymentReady(t, "my")
			env.WaitForServerVersion(t, "my", "0.7.3")
			if diff := cmp.Diff([]string{controllertest.PodAddress + ":8321"}, server.Dialed()); diff != "" {
				t.Errorf("connections (-want +got):\n%s", diff)
			}
		})
	}
}

// TestOtherPods checks that the operator does not connect to pods that only look like pods of the stack. Such a pod has
// the labels of the stack, an owner with another UID, or a ReplicaSet that another Deployment controls. The operator
// also does not connect to a pod of the stack that uses the network of its node.
func TestOtherPods(t *testing.T) {
	for name, change := range map[string]func(*appsv1.ReplicaSet, *corev1.Pod){
		"labels only":  func(_ *appsv1.ReplicaSet, pod *corev1.Pod) { pod.OwnerReferences = nil },
		"forged owner": func(_ *appsv1.ReplicaSet, pod *corev1.Pod) { pod.OwnerReferences[0].UID = "forged" },
		"foreign set":  func(set *appsv1.ReplicaSet, _ *corev1.Pod) { set.OwnerReferences[0].UID = "forged" },
		"node network": func(_ *appsv1.ReplicaSet, pod *corev1.Pod) { pod.Spec.HostNetwork = true },
		"address of the node": func(_ *appsv1.ReplicaSet, pod *corev1.Pod) {
			pod.Status.HostIP, pod.Status.HostIPs = pod.Status.PodIP, []corev1.HostIP{{IP: pod.Status.PodIP}}
		},
		"loopback": func(_ *appsv1.ReplicaSet, pod *corev1.Pod) {
			pod.Status.PodIP, pod.Status.PodIPs = "127.0.0.1", []corev1.PodIP{{IP: "127.0.0.1"}}
		},
	} {
		t.Run(name, func(t *testing.T) {
			env := controllertest.NewEnvironment(t)
			server := env.StartServer(t, "0.7.3")
			env.Workers = true
			env.StartReconciler(t, env.Namespace)
			env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter}}`))
			env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonRolloutInProgress)
			set := env.CreateReplicaSet(t, "my", appsv1.ReplicaSetStatus{})
			set.Spec.Template.Spec.NodeName = "node"
			pod := env.CreatePod(t, set, controllertest.RunningPodStatus("", corev1.ConditionTrue))
			was, wasSet := pod.DeepCopy(), set.DeepCopy()
			change(set, pod)
			env.Patch(t, set, client.MergeFrom(wasSet))
			status := pod.Status
			if pod.Spec.HostNetwork != was.Spec.HostNetwork { // immutable
				pod.Name, pod.ResourceVersion, pod.UID = "another", "", ""
				env.Create(t, pod)
				env.Delete(t, was, client.GracePeriodSeconds(0))
			} else if err := env.Client.Patch(t.Context(), pod, client.MergeFrom(was)); err != nil {
				t.Fatal(err)
			}
			env.SetPodStatus(t, pod, status)
			env.MarkDeploymentReady(t, "my")
			env.WaitForCondition(t, "my", v1alpha2.ConditionReady, v1alpha2.ReasonMinimumReplicasAvailable)
			env.WaitUntilIdle(t, env.Namespace)
			env.WaitForServerVersion(t, "my", "")
			if got := server.Dialed(); len(got) > 0 {
				t.Errorf("connections to %v", got)
			}
		})
	}
}

// TestChangedService checks that the operator repairs a Service that no longer leads to the pods of the stack.
func TestChangedService(t *testing.T) {
	env := controllertest.NewEnvironment(t)
	env.StartReconciler(t, env.Namespace)
	env.Create(t, env.NewStack(t, "my", `{distribution: {name: starter}}`))
	service := &corev1.Service{}
	env.WaitForChild(t, "my-service", service)
	for name, change := range map[string]func(*corev1.Service){
		"external name": elsewhere,
		"selector":      func(s *corev1.Service) { s.Spec.Selector = map[string]string{"app": "theirs"} },
		"no selector":   func(s *corev1.Service) { s.Spec.Selector = nil },
		"port":          func(s *corev1.Service) { s.Spec.Ports[0].TargetPort = intstr.FromInt32(22) },
	} {
		t.Run(name, func(t *testing.T) {
			env.Get(t, "my-service", service)
			change(service)
			env.Update(t, service)
			controllertest.WaitUntil(t, func() error {
				env.Get(t, "my-service", service)
				spec := &service.Spec
				if spec.Type != corev1.ServiceTypeClusterIP || spec.ClusterIP == corev1.ClusterIPNone ||
					!maps.Equal(spec.Selector, names.Selector("my")) || spec.Ports[0].TargetPort.String() != names.PortName {
					return fmt.Errorf("not repaired: %+v", spec)
				}
				return nil
			})
		})
	}
}
