package controller

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/apply"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/resolve"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/stub"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/status"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/caches"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/images"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/metrics"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/observe"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/planning"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/report"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller/watch"
)

// Reconciler reconciles LlamaStackDistributions.
type Reconciler struct {
	// cache is the reader for watched objects. The field `children` reads whole children, of which the cache may hold only
	// stubs. The field `direct` is the client that bypasses the caches.
	cache    client.Reader
	children client.Reader
	direct   client.Client

	applier    *apply.Applier
	configMaps *resolve.ConfigMaps
	stacks     *watch.Stacks
	writer     *report.Writer
	images     *images.Reader
	observer   *observe.Observer
	recorder   events.EventRecorder
	retries    retries
	planner    *planning.Planner
	other      otherOperator
	// otherInstallation is as in Options.
	otherInstallation func(context.Context) (string, error)

	apis      *caches.APIs
	settings  *resolve.OperatorConfig
	version   string
	openShift bool
	now       func() time.Time
	// autoscalerPatience is the time that the operator waits for an autoscaler's metrics before it reports a problem.
	autoscalerPatience time.Duration
}

// Reconcile makes the cluster match one stack, and writes its status. For the request of a group, it requeues the
// stacks of the group.
func (r *Reconciler) Reconcile(ctx context.Context, request reconcile.Request) (reconcile.Result, error) {
	if pause, err := r.standStill(ctx); pause > 0 || err != nil {
		return reconcile.Result{RequeueAfter: pause}, err
	}
	if isGroup, err := r.stacks.RequeueGroup(ctx, request); isGroup {
		return reconcile.Result{}, err
	}
	object := &stack{}
	err := stub.Reader{Reader: r.cache, Direct: r.direct}.Stack(ctx, request.NamespacedName, object)
	if apierrors.IsNotFound(err) {
		r.forget(request.NamespacedName)
		return reconcile.Result{}, nil
	}
	if err != nil {
		return reconcile.Result{}, fmt.Errorf("read object: %w", err)
	}
	if pause := r.holdBack(ctx, object); pause > 0 {
		return reconcile.Result{RequeueAfter: pause}, nil
	}
	r.writer.Refresh(object)
	s := &state{stack: object}
	var large *stub.TooLargeError
	if s.workload, err = r.readWorkload(ctx, object); err != nil && !errors.As(err, &large) {
		return reconcile.Result{}, err
	}
	var failure *status.Failure
	switch {
	case object.DeletionTimestamp != nil:
	case large != nil:
		failure = classify(large, v1alpha2.ConditionDeploymentUpdated)
	default:
		failure = r.runSteps(ctx, s)
	}
	err = r.finish(ctx, s, failure)
	if pause := r.retries.pause(request, failure, err); pause > 0 {
		return reconcile.Result{RequeueAfter: pause}, nil
	}
	if err != nil {
		return reconcile.Result{}, err
	}
	return result(failure, s.report.RequeueAfter(r.now()))
}

// runSteps runs the steps until the first failure.
func (r *Reconciler) runSteps(ctx context.Context, s *state) *status.Failure {
	for _, step := range steps {
		if err := r.runStep(ctx, step, s); err != nil {
			failure := classify(err, step.condition)
			if failure.Retry != status.OnObjectChange && failure.Retry != status.OnReferenceChange {
				log.FromContext(ctx).V(1).Info("A step failed", "step", step.name, "reason", failure.Reason, "error", err.Error())
			}
			return failure
		}
	}
	return nil
}

// runStep runs a step and converts a panic to a failure, so that one defective object does not affect the others.
func (r *Reconciler) runStep(ctx context.Context, step step, s *state) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			log.FromContext(ctx).Error(fmt.Errorf("panic: %v", cause), "A step panicked", "step", step.name, "stack",
				string(debug.Stack()))
			err = &status.Failure{
				Condition: step.condition, Reason: v1alpha2.ReasonInternalError, Retry: status.Backoff,
				Message: fmt.Sprintf("The operator has a defect in step %q; report the defect with the details in the operator's log", step.name),
				Err:     fmt.Errorf("panic in step %q", step.name),
			}
		}
	}()
	return step.run(ctx, r, s)
}

// result determines the time of the next reconcile: after a change to a watched object, after a fixed time, or with
// growing delays. The parameter `after` is the time until the state changes without an event. Zero means never.
func result(failure *status.Failure, after time.Duration) (reconcile.Result, error) {
	if failure == nil {
		return reconcile.Result{RequeueAfter: after}, nil
	}
	switch failure.Retry {
	case status.Later:
		return reconcile.Result{RequeueAfter: status.OwnershipRetry}, nil
	case status.Invalid:
		return reconcile.Result{RequeueAfter: status.InvalidRetry}, nil
	case status.Backoff:
		return reconcile.Result{}, failure
	default:
		return reconcile.Result{RequeueAfter: after}, nil
	}
}

// forget drops all stored data about a deleted object. Garbage collection removes its children.
func (r *Reconciler) forget(name types.NamespacedName) {
	r.applier.Forget(name)
	r.configMaps.Forget(name)
	r.stacks.References.Forget(name)
	r.writer.Forget(name)
	metrics.Forget(name)
	r.images.Forget(name)
	r.observer.Prober.Forget(name)
	r.retries.forget(reconcile.Request{NamespacedName: name})
}
