package status

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/modellist"
)

// Facts are the objects of a stack that could be read.
type Facts struct {
	Stack *v1alpha2.LlamaStackDistribution
	// Deployment is nil if the stack has no Deployment, or if the caller cannot read the Deployment.
	Deployment  *appsv1.Deployment
	ReplicaSets []appsv1.ReplicaSet
	// Pods are the pods of the Deployment, and the pods in which the operator tests a change.
	Pods   []corev1.Pod
	Claims []corev1.PersistentVolumeClaim
	// Autoscaler is nil if the stack has no autoscaler, or if the caller cannot read the autoscaler.
	Autoscaler *autoscalingv2.HorizontalPodAutoscaler
	// Exposures contains the Ingress, the Route or the HTTPRoute of the stack.
	Exposures []unstructured.Unstructured
	// Models are the models that the configuration registers.
	Models []modellist.Model
	// Unseen contains a sentence for each kind of object that the caller cannot read.
	Unseen []string
	// Flags are the connection flags, which are added to the next command.
	Flags string
	// Now is the time of the report.
	Now time.Time
}
