package controllertest

import (
	"cmp"
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/controller"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
)

// NewReconcilerFunc creates a reconciler without a manager. Package controller exports its own for its tests only.
type NewReconcilerFunc = func(context.Context, events.EventRecorder, controller.Options) (*controller.Reconciler, error)

// Reconciler reconciles the stacks of the namespace of a test whenever the test waits. It replaces an operator and has
// no watches, caches or workers. It has the shipped permissions.
type Reconciler struct {
	*controller.Reconciler
	environment *Environment
}

// reconcilers has the reconcilers of the running tests, by test name.
var reconcilers sync.Map

// StartReconciler makes the test reconcile in place of an operator whenever it waits. The version identifies the calls
// for ListCalls and WaitUntilIdle. The wraps can observe and change the requests to the API server.
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
		WatchNamespaces: []string{env.Namespace}, AutoscalerPatience: env.AutoscalerPatience,
	}
	if env.OwnOperatorConfig {
		options.OperatorNamespace = env.Namespace
	}
	reconciler, err := constructor(t.Context(), broadcaster.NewRecorder(scheme, names.EventReporter), options)
	if err != nil {
		t.Fatal(err)
	}
	r := &Reconciler{reconciler, env}
	reconcilers.Store(t.Name(), r)
	t.Cleanup(func() { reconcilers.Delete(t.Name()) })
	return r
}

// Stop ends the reconciling. Later waits of the test only poll.
func (*Reconciler) Stop(t *testing.T) { reconcilers.Delete(t.Name()) }

// reconcileStacks reconciles every stack of the namespace once. The waiting test retries failures.
func (r *Reconciler) reconcileStacks(t *testing.T) {
	t.Helper()
	var stacks v1alpha2.LlamaStackDistributionList
	if err := r.environment.Client.List(t.Context(), &stacks, client.InNamespace(r.environment.Namespace)); err != nil {
		t.Fatal(err)
	}
	for i := range stacks.Items {
		_, _ = r.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&stacks.Items[i])})
	}
}

// Reconcile reconciles every stack of the test once if the test, or the test that it is a subtest of, has started a
// Reconciler. It reports whether there is such a Reconciler.
func Reconcile(t *testing.T) bool {
	t.Helper()
	for name, more := t.Name(), true; more; name, more = parentTest(name) {
		if r, ok := reconcilers.Load(name); ok {
			r.(*Reconciler).reconcileStacks(t)
			return true
		}
	}
	return false
}

// parentTest returns the name of the test that a subtest belongs to.
func parentTest(name string) (string, bool) {
	i := strings.LastIndex(name, "/")
	return name[:max(i, 0)], i >= 0
}
