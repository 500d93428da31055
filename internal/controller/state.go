package controller

import (
	"time"

	appsv1 "k8s.io/api/apps/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operatorconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/render"
	"github.com/llamastack/llama-stack-k8s-operator/internal/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/rollout"
	"github.com/llamastack/llama-stack-k8s-operator/internal/status"
)

// state is what the steps of one reconcile tell each other.
type state struct {
	// object is what is reconciled. Its status is what was written last.
	object *v1alpha2.LlamaStackDistribution

	// deployment is the live Deployment as it was before this reconcile and, from
	// apply on, after it. Nil when there is none.
	deployment  *appsv1.Deployment
	replicaSets []appsv1.ReplicaSet

	// config is the operator's, as it was when this reconcile first asked for it.
	config *operatorconfig.Config

	intent         *intent.Intent
	distribution   distribution.Resolved
	catalogueImage string
	newerImage     string
	imageFrom      v1alpha2.ImageSource
	releaseNote    string
	// digest is what the image was resolved to when its configuration was read, and
	// labelled is that configuration. unread says why there is none yet.
	digest     string
	labelled   []byte
	unread     error
	running    rollout.Record
	configMaps resolve.Contents
	// certificates are those to trust, in DER form.
	certificates [][]byte
	secrets      resolve.Values
	references   rollout.References
	// digestKey makes digests of Secrets, storageSecret is the Secret with derived values.
	digestKey     resolve.DigestKey
	storageSecret *rollout.StorageSecret
	baseConfig    *plan.Base
	cluster       render.Cluster
	// earlierHost says that what exposes the stack has the host name of operators before.
	earlierHost bool
	// rival has the host name that the stack asks for; nil: nobody has.
	rival    *rival
	planned  *plan.Plan
	derived  map[string][]byte
	claims   []apply.Desired
	decision rollout.Decision
	// leaves is the data that this change leaves behind, as its record tells.
	leaves  []string
	applied []apply.Applied
	// deployed says that the Deployment is among the applied; refused are the children
	// after it that are not.
	deployed bool
	refused  []refusal
	// volumeTrouble is why the volume is not what the spec asks for; nil: it is.
	volumeTrouble *status.Failure

	// wake is when to look again though nothing changes; zero: never.
	wake time.Time

	// overdue says that the roll-out is past its deadline, mixed that other pods than its
	// own may answer for it.
	overdue    bool
	mixed      bool
	conditions []metav1.Condition
	events     []event
}

func newState(object *v1alpha2.LlamaStackDistribution) *state {
	return &state{object: object}
}

func (s *state) name() types.NamespacedName {
	return types.NamespacedName{Namespace: s.object.Namespace, Name: s.object.Name}
}

// owner describes the object to whoever applies its children.
func (s *state) owner() apply.Owner {
	owner := apply.Owner{
		UID: s.object.UID, Namespace: s.object.Namespace, Name: s.object.Name, Labels: names.ChildSelector(s.object.Name),
		// An older operator applied under the name of the object it worked for.
		Predecessors: []apply.Manager{{Name: s.object.Name, Operation: metav1.ManagedFieldsOperationApply}},
	}
	for _, manager := range names.PredecessorManagers() {
		owner.Predecessors = append(owner.Predecessors, apply.Manager{Name: manager, Operation: metav1.ManagedFieldsOperationUpdate})
	}
	return owner
}

// holds notes a condition that is True.
func (s *state) holds(condition, reason, message string) {
	s.conditions = append(s.conditions, metav1.Condition{
		Type: condition, Status: metav1.ConditionTrue, Reason: reason, Message: message,
	})
}

// fails notes a condition that is False without ending the reconcile.
func (s *state) fails(condition, reason, message string) {
	s.conditions = append(s.conditions, metav1.Condition{
		Type: condition, Status: metav1.ConditionFalse, Reason: reason, Message: message,
	})
}

// timestamp is the API's form of a time: whole seconds.
func timestamp(t time.Time) metav1.Time { return metav1.NewTime(t.Truncate(time.Second)) }
