package rollout_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/applyconfigurations"
	appsv1ac "k8s.io/client-go/applyconfigurations/apps/v1"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	metav1ac "k8s.io/client-go/applyconfigurations/meta/v1"
	clienttesting "k8s.io/client-go/testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/retention"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
)

const (
	namespace         = "team-a"
	name              = "demo"
	deploymentUID     = types.UID("deployment")
	revisionKey       = "deployment.kubernetes.io/revision"
	historyKey        = "deployment.kubernetes.io/revision-history"
	restartedKey      = "kubectl.kubernetes.io/restartedAt"
	olderOperator     = "manager"
	kubectlRollout    = "kubectl-rollout"
	kubectlEdit       = "kubectl-edit"
	operatorV1        = "v1.0.0"
	operatorV2        = "v2.0.0"
	firstUID          = types.UID("first")
	secondUID         = types.UID("second")
	firstKey, nextKey = "key-1", "key-2"
)

// stack holds the parts that a user specifies, and the parts that an operator renders from them.
type stack struct {
	uid        types.UID
	generation int64
	replicas   int32
	image      string
	// memory is the requested memory. Empty means the default, 1Gi.
	memory   string
	secrets  rollout.References
	operator string
	// base is the base that the operator keeps with the configuration. Empty means none.
	base string
	// habit is a part of the template that comes from the operator.
	habit string
	// data is the release that the places in the record specify. If it is empty, the record contains no places. left is
	// the data that the change left behind. If it is empty, no data was left behind.
	data, left string
}

func newStack() stack {
	return stack{uid: firstUID, generation: 1, replicas: 1, image: "server:1", operator: operatorV1, habit: "old"}
}

// change returns an edited copy of the stack, with the next generation.
func (s stack) change(edit func(*stack)) stack {
	s.generation++
	edit(&s)
	return s
}

// with returns an edited copy of the stack, with the same generation.
func (s stack) with(edit func(*stack)) stack {
	edit(&s)
	return s
}

func (s stack) render(t *testing.T) rollout.Rendered {
	t.Helper()
	inputs := rollout.Inputs{Image: s.image}
	if s.memory != "" {
		inputs.Resources = &corev1.ResourceRequirements{}
	}
	digest, err := rollout.Digest(inputs, s.secrets)
	if err != nil {
		t.Fatal(err)
	}
	labels := names.Selector(name)
	deployment := appsv1ac.Deployment(name, namespace).WithLabels(names.Labels(name)).WithSpec(appsv1ac.DeploymentSpec().
		WithReplicas(s.replicas).
		WithSelector(metav1ac.LabelSelector().WithMatchLabels(labels)).
		WithTemplate(corev1ac.PodTemplateSpec().
			WithLabels(labels).
			WithAnnotations(map[string]string{
				names.AnnotationInputs:     digest,
				names.AnnotationGeneration: string(s.uid) + "/" + strconv.FormatInt(s.generation, 10),
			}).
			WithSpec(corev1ac.PodSpec().WithContainers(corev1ac.Container().
				WithName(names.Container).WithImage(s.image).
				WithEnv(corev1ac.EnvVar().WithName("HABIT").WithValue(s.habit))))))
	written := rollout.Record{
		UID: s.uid, Generation: s.generation, Inputs: digest, ReferenceKey: s.secrets.Key, Image: s.image,
		OperatorVersion: s.operator,
	}
	if s.data != "" {
		written.Places = &retention.Places{Version: 1, Release: s.data}
	}
	if s.left != "" {
		written.Left = []string{s.left}
	}
	rendered, err := rollout.NewRendered(deployment, written)
	if err != nil {
		t.Fatal(err)
	}
	return rendered
}

// world simulates an API server that has one Deployment and tracks field ownership. It also simulates how the
// Deployment controller manages revisions.
type world struct {
	t           *testing.T
	deployments clienttesting.ObjectTracker
	sets        []appsv1.ReplicaSet
	// rollouts is the number of times that the pods were replaced.
	rollouts int
	// unsynced prevents the Deployment controller from acting.
	unsynced bool
}

var deploymentsResource = appsv1.SchemeGroupVersion.WithResource("deployments")

func newWorld(t *testing.T) *world {
	t.Helper()
	scheme := runtime.NewScheme()
	if err := appsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	return &world{t: t, deployments: clienttesting.NewFieldManagedObjectTracker(
		scheme, serializer.NewCodecFactory(scheme).UniversalDecoder(), applyconfigurations.NewTypeConverter(scheme))}
}

// live returns the Deployment, or nil if it does not exist.
func (w *world) live() *appsv1.Deployment {
	w.t.Helper()
	object, err := w.deployments.Get(deploymentsResource, namespace, name)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		w.t.Fatal(err)
	}
	live := object.(*appsv1.Deployment).DeepCopy()
	live.UID = deploymentUID
	return live
}

func (w *world) apply(manager string, deployment *appsv1ac.DeploymentApplyConfiguration) {
	w.t.Helper()
	sent := &unstructured.Unstructured{}
	if err := json.Unmarshal([]byte(mustJSON(w.t, deployment)), &sent.Object); err != nil {
		w.t.Fatal(err)
	}
	options := metav1.PatchOptions{FieldManager: manager, Force: new(true)}
	if err := w.deployments.Apply(deploymentsResource, sent, namespace, options); err != nil {
		w.t.Fatal(err)
	}
}

// reconcile renders the stack and calls decide.
func (w *world) reconcile(s stack) rollout.Decision {
	w.t.Helper()
	return w.decide(s.render(w.t))
}

// decide calls Decide for a rendering, applies the decision, and lets the Deployment controller act.
func (w *world) decide(rendered rollout.Rendered) rollout.Decision {
	w.t.Helper()
	w.takeOverFields()
	before := mustJSON(w.t, rendered)
	decision, err := rollout.Decide(w.live(), w.sets, rendered)
	if err != nil {
		w.t.Fatal(err)
	}
	if diff := cmp.Diff(before, mustJSON(w.t, rendered)); diff != "" {
		w.t.Errorf("Decide changed its input:\n%s", diff)
	}
	if decision.Deployment != nil {
		w.apply(names.FieldManager, decision.Deployment)
	}
	w.sync()
	return decision
}

// edit changes the Deployment as another client would.
func (w *world) edit(manager string, change func(*appsv1.Deployment)) {
	w.t.Helper()
	live := w.live()
	change(live)
	options := metav1.UpdateOptions{FieldManager: manager}
	if err := w.deployments.Update(deploymentsResource, live, namespace, options); err != nil {
		w.t.Fatal(err)
	}
	w.sync()
}

// undo acts as `kubectl rollout undo`: it restores the template of an older ReplicaSet and most of its annotations.
func (w *world) undo() {
	w.t.Helper()
	target := w.previous()
	w.edit(kubectlRollout, func(live *appsv1.Deployment) {
		live.Spec.Template = *target.Spec.Template.DeepCopy()
		annotations := maps.Clone(target.Annotations)
		delete(annotations, historyKey)
		annotations[revisionKey] = live.Annotations[revisionKey]
		live.Annotations = annotations
	})
}

// undoTemplate acts as a tool that rolls back the template but not the Deployment's annotations.
func (w *world) undoTemplate() {
	w.t.Helper()
	target := w.previous()
	w.edit("dashboard", func(live *appsv1.Deployment) { live.Spec.Template = *target.Spec.Template.DeepCopy() })
}

func (w *world) restart(at string) {
	w.t.Helper()
	w.edit(kubectlRollout, func(live *appsv1.Deployment) {
		if live.Spec.Template.Annotations == nil {
			live.Spec.Template.Annotations = map[string]string{}
		}
		live.Spec.Template.Annotations[restartedKey] = at
	})
}

// previous returns the ReplicaSet with the second highest revision.
func (w *world) previous() appsv1.ReplicaSet {
	w.t.Helper()
	if len(w.sets) < 2 {
		w.t.Fatal("there is no revision for a rollback")
	}
	sorted := slices.SortedFunc(slices.Values(w.sets), func(a, b appsv1.ReplicaSet) int {
		return int(revisionOf(b) - revisionOf(a))
	})
	return *sorted[1].DeepCopy()
}

// sync acts as the Deployment controller does for revisions and annotations.
func (w *world) sync() {
	w.t.Helper()
	live := w.live()
	if live == nil || w.unsynced {
		return
	}
	at := slices.IndexFunc(w.sets, func(set appsv1.ReplicaSet) bool {
		return cmp.Equal(set.Spec.Template, live.Spec.Template)
	})
	highest := int64(0)
	for i := range w.sets {
		highest = max(highest, revisionOf(w.sets[i]))
	}
	if at < 0 {
		w.sets = append(w.sets, appsv1.ReplicaSet{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: namespace, Name: name + "-" + strconv.Itoa(len(w.sets)),
				OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(live,
					appsv1.SchemeGroupVersion.WithKind("Deployment"))},
				Annotations: map[string]string{revisionKey: "0"},
			},
			Spec: appsv1.ReplicaSetSpec{Template: *live.Spec.Template.DeepCopy()},
		})
		at = len(w.sets) - 1
	}
	set := &w.sets[at]
	if revision := revisionOf(*set); revision < highest || revision == 0 {
		w.rollouts++
		if revision > 0 {
			set.Annotations[historyKey] = strconv.FormatInt(revision, 10)
		}
		set.Annotations[revisionKey] = strconv.FormatInt(highest+1, 10)
	}
	for key, value := range live.Annotations {
		if key != revisionKey && key != historyKey {
			set.Annotations[key] = value
		}
	}
}

func revisionOf(set appsv1.ReplicaSet) int64 {
	revision, err := strconv.ParseInt(set.Annotations[revisionKey], 10, 64)
	if err != nil {
		return 0
	}
	return revision
}

// image returns the image that the pods run.
func (w *world) image() string {
	w.t.Helper()
	return w.live().Spec.Template.Spec.Containers[0].Image
}

func (w *world) habit() string {
	w.t.Helper()
	return w.live().Spec.Template.Spec.Containers[0].Env[0].Value
}

func mustJSON(t *testing.T, value any) string {
	t.Helper()
	data, err := json.Marshal(value)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
