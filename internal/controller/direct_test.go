package controller_test

import (
	"cmp"
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

// direct reconciles the stacks of a test's namespace whenever the test waits. It replaces an operator and has no
// watches, caches or workers. It has the shipped permissions.
type direct struct {
	*controller.Reconciler
	bench *bench
}

// directs holds the reconcilers of the running tests, by test name.
var directs sync.Map

// direct starts reconciling in place of an operator. The version distinguishes its calls from those of others.
func (b *bench) direct(t *testing.T, version string, wraps ...func(http.RoundTripper) http.RoundTripper) *direct {
	t.Helper()
	config := plane.As(cmp.Or(b.account, names.OperatorServiceAccount))
	for _, wrap := range wraps {
		config.Wrap(wrap)
	}
	config.QPS, config.Burst, config.UserAgent = 1000, 1000, names.UserAgent+"/"+version
	scheme := b.Scheme()
	writer, err := client.New(config, client.Options{Scheme: scheme, Mapper: b.RESTMapper()})
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
		WatchNamespaces: []string{b.namespace}, AutoscalerPatience: b.patience,
	}
	if b.configured {
		options.OperatorNamespace = b.namespace
	}
	reconciler, err := controller.NewDirect(t.Context(), broadcaster.NewRecorder(scheme, names.EventReporter), options)
	if err != nil {
		t.Fatal(err)
	}
	d := &direct{reconciler, b}
	directs.Store(t.Name(), d)
	t.Cleanup(func() { directs.Delete(t.Name()) })
	return d
}

// stop ends reconciling.
func (*direct) stop(t *testing.T) { directs.Delete(t.Name()) }

// reconcile reconciles every stack of the namespace once. The waiting test retries failures.
func (d *direct) reconcile(t *testing.T) {
	t.Helper()
	var stacks v1alpha2.LlamaStackDistributionList
	if err := d.bench.List(t.Context(), &stacks, client.InNamespace(d.bench.namespace)); err != nil {
		t.Fatal(err)
	}
	for i := range stacks.Items {
		_, _ = d.Reconcile(t.Context(), reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&stacks.Items[i])})
	}
}

// reconcileDirects reconciles for the test, or for the test that it is a part of. It reports whether there was a
// reconciler.
func reconcileDirects(t *testing.T) bool {
	t.Helper()
	for name, more := t.Name(), true; more; name, more = parent(name) {
		if d, ok := directs.Load(name); ok {
			d.(*direct).reconcile(t)
			return true
		}
	}
	return false
}

func parent(name string) (string, bool) {
	i := strings.LastIndex(name, "/")
	return name[:max(i, 0)], i >= 0
}
