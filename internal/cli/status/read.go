package status

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/modellist"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/render"
)

// reader reads the objects of a stack.
type reader struct {
	cluster *kube.Cluster
	stack   *v1alpha2.LlamaStackDistribution

	lock   sync.Mutex
	facts  *Facts
	failed error
}

// Read returns the facts about a stack, except the time, which the caller sets. If the caller is not allowed to read an
// object, the facts name the object. If the models cannot be read for any other reason, Read ignores the error. For
// objects other than the models, Read returns the first error that is not a missing permission.
func Read(
	ctx context.Context,
	cluster *kube.Cluster,
	stack *v1alpha2.LlamaStackDistribution,
) (*Facts, error) {
	r := &reader{cluster: cluster, stack: stack, facts: &Facts{Stack: stack, Flags: cluster.Selection()}}
	steps := []func(context.Context){r.deployment, r.replicaSets, r.pods, r.claims, r.models}
	if workload := stack.Spec.Workload; workload != nil && workload.Autoscaling != nil {
		steps = append(steps, r.autoscaler)
	}
	if networking := stack.Spec.Networking; networking != nil && networking.Expose != nil {
		steps = append(steps, r.exposures)
	}
	var group sync.WaitGroup
	for _, step := range steps {
		group.Go(func() { step(ctx) })
	}
	group.Wait()
	slices.Sort(r.facts.Unseen)
	return r.facts, r.failed
}

// set changes the facts under the lock.
func (r *reader) set(change func(*Facts)) {
	r.lock.Lock()
	defer r.lock.Unlock()
	change(r.facts)
}

// fail records a request's explained error, and reports whether there is an error.
func (r *reader) fail(err error) bool {
	if err == nil {
		return false
	}
	if denied, ok := errors.AsType[*kube.Denied](err); ok {
		text, _, _ := strings.Cut(denied.Error(), ";")
		r.set(func(facts *Facts) { facts.Unseen = append(facts.Unseen, text) })
		return true
	}
	r.set(func(*Facts) { r.failed = cmp.Or(r.failed, err) })
	return true
}

// get reads an object, and reports whether it was read.
func (r *reader) get(ctx context.Context, name string, object client.Object) bool {
	err := r.cluster.Get(ctx, client.ObjectKey{Namespace: r.stack.Namespace, Name: name}, object)
	return !apierrors.IsNotFound(err) && !r.fail(err)
}

// list reads a list, and calls `take` after each page.
func (r *reader) list(ctx context.Context, selector labels.Selector, list client.ObjectList, take func()) {
	r.fail(r.cluster.Pages(ctx, list, func() error { take(); return nil },
		client.InNamespace(r.stack.Namespace), client.MatchingLabelsSelector{Selector: selector}))
}

func (r *reader) deployment(ctx context.Context) {
	object, err := r.cluster.Deployment(ctx, r.stack)
	r.fail(err)
	r.set(func(facts *Facts) { facts.Deployment = object })
}

func (r *reader) replicaSets(ctx context.Context) {
	list, selector := &appsv1.ReplicaSetList{}, labels.SelectorFromSet(names.Selector(r.stack.Name))
	r.list(ctx, selector, list, func() {
		r.set(func(facts *Facts) { facts.ReplicaSets = append(facts.ReplicaSets, list.Items...) })
	})
}

func (r *reader) pods(ctx context.Context) {
	list := &corev1.PodList{}
	r.list(ctx, kube.PodSelector(r.stack.Name), list, func() {
		r.set(func(facts *Facts) { facts.Pods = append(facts.Pods, list.Items...) })
	})
}

func (r *reader) claims(ctx context.Context) {
	if r.stack.Spec.Workload == nil || r.stack.Spec.Workload.Storage == nil {
		return
	}
	object := &corev1.PersistentVolumeClaim{}
	if r.get(ctx, names.PersistentVolumeClaim(r.stack.Name), object) {
		r.set(func(facts *Facts) { facts.Claims = append(facts.Claims, *object) })
	}
}

func (r *reader) autoscaler(ctx context.Context) {
	object := &autoscalingv2.HorizontalPodAutoscaler{}
	if r.get(ctx, names.HorizontalPodAutoscaler(r.stack.Name), object) {
		r.set(func(facts *Facts) { facts.Autoscaler = object })
	}
}

// exposures reads the objects that can expose the stack. The cluster might not serve all of their kinds.
func (r *reader) exposures(ctx context.Context) {
	objects := map[string]string{
		"Ingress":   names.Ingress(r.stack.Name),
		"Route":     names.Route(r.stack.Name),
		"HTTPRoute": names.HTTPRoute(r.stack.Name),
	}
	for _, kind := range render.ExposureKinds() {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(kind)
		if r.get(ctx, objects[kind.Kind], object) {
			r.set(func(facts *Facts) { facts.Exposures = append(facts.Exposures, *object) })
		}
	}
}

// models reads the models in the configuration. If the caller is not allowed to read the ConfigMap, models records this
// problem. It ignores every other error, for example an invalid configuration.
func (r *reader) models(ctx context.Context) {
	config, err := r.cluster.ServerConfig(ctx, r.stack)
	if _, denied := errors.AsType[*kube.Denied](err); denied {
		r.set(func(facts *Facts) {
			facts.Unseen = append(facts.Unseen, "you cannot get the ConfigMap that contains the models")
		})
		return
	}
	if err != nil {
		return
	}
	if models, err := modellist.FromConfig(config, kube.ReleaseLine(r.stack)); err == nil {
		r.set(func(facts *Facts) { facts.Models = models })
	}
}

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
