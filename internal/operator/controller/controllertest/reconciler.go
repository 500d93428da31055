package controllertest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/controller"
)

// NewReconcilerFunc creates a reconciler without a manager. Package controller exports the implementation only to its
// own tests.
type NewReconcilerFunc = func(context.Context, events.EventRecorder, controller.Options) (*controller.Reconciler, error)

// StartWorkersFunc makes a reconciler query servers and read images until the context ends.
type StartWorkersFunc = func(context.Context, *controller.Reconciler)

// Reconciler reconciles the stacks in a test's namespace whenever the test waits. It replaces an operator and has no
// watches or caches. It has workers only if the environment's field Workers is set. It has the permissions of the
// environment's ServiceAccount.
type Reconciler struct {
	*controller.Reconciler
	environment *Environment
	stopWorkers context.CancelFunc

	mu     sync.Mutex
	stacks []types.NamespacedName // the stacks that existed at the last reconcile
	err    error                  // the failures of the last reconcile
}

// reconcilers contains the reconcilers of the running tests, by test name.
var reconcilers sync.Map

// StartReconciler makes the test reconcile, in place of an operator, whenever the test waits. The version identifies
// the calls for ListCalls and WaitUntilIdle. The functions in `wraps` can observe and change the requests to the API
// server.
func (env *Environment) StartReconciler(
	t *testing.T, version string, wraps ...func(http.RoundTripper) http.RoundTripper,
) *Reconciler {
	t.Helper()
	config := controlPlane.As(cmp.Or(env.ServiceAccount, names.OperatorServiceAccount))
	for _, wrap := range wraps {
		config.Wrap(wrap)
	}
	config.QPS, config.Burst, config.UserAgent = 1000, 1000, names.UserAgent+"/"+version
	scheme := env.Client.Scheme()
	writer, err := client.New(config, client.Options{Scheme: scheme, Mapper: env.Client.RESTMapper()})
	if err != nil {
		t.Fatal(err)
	}
	clients, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	broadcaster := events.NewBroadcaster(&events.EventSinkImpl{Interface: clients.EventsV1()})
	if err := broadcaster.StartRecordingToSinkWithContext(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(broadcaster.Shutdown)
	options := controller.Options{
		Direct: writer, OperatorVersion: version, OperatorNamespace: names.OperatorNamespace,
		WatchNamespaces: []string{env.Namespace},
		DialServer:      env.dialServer(), ProbeInterval: env.ProbeInterval, TagInterval: env.TagInterval,
	}
	if env.AllNamespaces {
		options.WatchNamespaces = nil
	}
	if env.OwnOperatorConfig {
		options.OperatorNamespace = env.Namespace
		env.createOperatorConfig(t)
	}
	reconciler, err := constructor(t.Context(), broadcaster.NewRecorder(scheme, names.EventReporter), options)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	r := &Reconciler{Reconciler: reconciler, environment: env, stopWorkers: stop}
	if env.Workers {
		startWorkers(ctx, reconciler)
	}
	reconcilers.Store(t.Name(), r)
	t.Cleanup(func() { r.Stop(t) })
	return r
}

// Stop stops the reconciles and the workers. After Stop, WaitUntil polls without reconciling.
func (r *Reconciler) Stop(t *testing.T) {
	t.Helper()
	r.stopWorkers()
	reconcilers.CompareAndDelete(t.Name(), r)
}

// reconcileStacks reconciles every stack in the namespace once, including stacks that were deleted since the last call.
// A test that waits calls reconcileStacks repeatedly. Each call also retries the failed stacks.
func (r *Reconciler) reconcileStacks(t *testing.T) {
	t.Helper()
	r.mu.Lock()
	defer r.mu.Unlock()
	var stacks v1alpha2.LlamaStackDistributionList
	if err := r.environment.Client.List(t.Context(), &stacks, client.InNamespace(r.environment.Namespace)); err != nil {
		t.Fatal(err)
	}
	before := r.stacks
	r.stacks = nil
	for i := range stacks.Items {
		r.stacks = append(r.stacks, client.ObjectKeyFromObject(&stacks.Items[i]))
	}
	deleted := slices.DeleteFunc(before, func(key types.NamespacedName) bool { return slices.Contains(r.stacks, key) })
	var errs []error
	for _, key := range slices.Concat(r.stacks, deleted) {
		if _, err := r.Reconcile(t.Context(), reconcile.Request{NamespacedName: key}); err != nil {
			errs = append(errs, fmt.Errorf("stack %s: %w", key.Name, err))
		}
	}
	r.err = errors.Join(errs...)
}

// Reconcile reconciles every stack of the test once if the test or one of its parent tests has started a Reconciler. It
// reports whether there is such a Reconciler.
func Reconcile(t *testing.T) bool {
	t.Helper()
	r := reconcilerOf(t)
	if r != nil {
		r.reconcileStacks(t)
	}
	return r != nil
}

// reconcileError returns the failures from the last call to Reconcile.
func reconcileError(t *testing.T) error {
	t.Helper()
	r := reconcilerOf(t)
	if r == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// reconcilerOf returns the Reconciler of the test or of its nearest parent test that has one. It returns nil if there
// is none.
func reconcilerOf(t *testing.T) *Reconciler {
	t.Helper()
	for name, more := t.Name(), true; more; name, more = parentTest(name) {
		if r, ok := reconcilers.Load(name); ok {
			return r.(*Reconciler)
		}
	}
	return nil
}

// parentTest returns the name of the test that a subtest belongs to, and false if the given test is not a subtest.
func parentTest(name string) (string, bool) {
	i := strings.LastIndex(name, "/")
	return name[:max(i, 0)], i >= 0
}
