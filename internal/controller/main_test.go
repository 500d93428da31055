package controller_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/manager"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/probe"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const (
	// soon bounds what the operator should do at once.
	soon = 20 * time.Second
	poll = 20 * time.Millisecond
)

var (
	plane *testutil.ControlPlane
	audit = &auditTrail{}
	logs  = &testutil.Log{}
)

func TestMain(m *testing.M) {
	os.Exit(runTests(m))
}

func runTests(m *testing.M) int {
	ctrl.SetLogger(zap.New(zap.WriteTo(logs), zap.UseDevMode(true)))
	defer func() {
		if plane == nil {
			return
		}
		if err := plane.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.RemoveAll(filepath.Dir(audit.path))
	}()
	code := m.Run()
	// A quota, or a definition that is being deleted, also causes "forbidden" errors.
	if strings.Contains(logs.String(), "is forbidden: User ") {
		fmt.Fprintln(os.Stderr, "the shipped RBAC is too small:\n"+logs.String())
		return 1
	}
	return code
}

// startPlane starts the control plane with the first test that needs it. Tests of single steps do not.
var startPlane = sync.OnceValue(func() error {
	folder, err := os.MkdirTemp("", "controller-test-")
	if err != nil {
		return err
	}
	audit.path = filepath.Join(folder, "audit.log")
	started, err := testutil.Start(testutil.Options{
		AuditLog:       audit.path,
		APIServerFlags: map[string]string{"service-cluster-ip-range": "10.0.0.0/16"}, // large enough for hundreds of stacks
	})
	if err != nil {
		return err
	}
	plane = started
	return plane.InstallRights()
})

// bench is one test's namespace and the operators that run in it.
type bench struct {
	client.Client // with an administrator's permissions
	namespace     string
	// everywhere makes operators work in all namespaces.
	everywhere bool
	// configured makes the test's namespace the operators' own namespace too, so that the test controls their
	// ConfigMap.
	configured bool
	// account is the ServiceAccount that operators run as. Empty means the shipped one.
	account string
	// dial connects to servers. Nil means that none can be reached.
	dial probe.Dial
	// interval is the pause between two health checks of providers. Zero means the shipped one.
	interval time.Duration
	// tagInterval is the pause between two comparisons of a tag. Zero means the shipped one.
	tagInterval time.Duration
	// patience is how long autoscalers may lack metrics. Zero means the shipped one.
	patience time.Duration
}

func newBench(t *testing.T) *bench {
	t.Helper()
	if err := startPlane(); err != nil {
		t.Fatal(err)
	}
	admin, err := plane.Client()
	if err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "controller-"}}
	if err := admin.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	return &bench{Client: admin, namespace: namespace.Name}
}

// operator is a running operator.
type operator struct {
	version string
	cancel  context.CancelFunc
	done    chan error
}

// start starts an operator with the shipped ServiceAccount and the shipped options, except that it works in the test's
// namespace only, apart from other tests' operators. Its version distinguishes its calls from those of others.
func (b *bench) start(t *testing.T, version string, wraps ...func(http.RoundTripper) http.RoundTripper) *operator {
	t.Helper()
	config := plane.As(cmp.Or(b.account, names.OperatorServiceAccount))
	for _, wrap := range wraps {
		config.Wrap(wrap)
	}
	options := manager.Options{
		MetricsBindAddress: "0", HealthProbeBindAddress: "0", WatchNamespaces: []string{b.namespace},
		QPS: 1000, Burst: 1000, Concurrency: 4, ProbeInterval: b.interval, TagInterval: b.tagInterval,
		AutoscalerPatience: b.patience,
	}
	if options.DialServer = b.dial; b.dial == nil {
		options.DialServer = func(context.Context, string, string) (net.Conn, error) {
			return nil,
				errors.New("there is no server")
		}
	}
	if b.everywhere {
		options.WatchNamespaces = nil
	}
	if b.configured {
		options.OperatorNamespace = b.namespace
	}
	mgr, err := manager.New(t.Context(), config, options, version, func(string) string { return "" })
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	o := &operator{version: version, cancel: cancel, done: make(chan error, 1)}
	go func() { o.done <- mgr.Start(ctx) }()
	t.Cleanup(func() { o.stop(t) })
	return o
}

// stop stops the operator and waits for it.
func (o *operator) stop(t *testing.T) {
	t.Helper()
	if o.cancel == nil {
		return
	}
	o.cancel()
	o.cancel = nil
	if err := <-o.done; err != nil {
		t.Errorf("operator ended with: %v", err)
	}
}

// stack decodes an object strictly, in the test's namespace.
func (b *bench) stack(t *testing.T, name, spec string) *v1alpha2.LlamaStackDistribution {
	t.Helper()
	object := &v1alpha2.LlamaStackDistribution{}
	if err := yaml.UnmarshalStrict([]byte(spec), &object.Spec); err != nil {
		t.Fatal(err)
	}
	object.Name, object.Namespace = name, b.namespace
	return object
}

func (b *bench) create(t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, object := range objects {
		object.SetNamespace(b.namespace)
		if err := b.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
}

func (b *bench) get(t *testing.T, name string, into client.Object) {
	t.Helper()
	if err := b.Get(t.Context(), b.key(name), into); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: b.namespace, Name: name}
}

// eventually polls until check returns nil. If the test reconciles in place of an operator, eventually reconciles
// before each check.
func eventually(t *testing.T, check func() error) {
	t.Helper()
	testutil.Within(t, soon, func() error {
		reconcileDirects(t)
		return check()
	})
}

// condition waits until the stack has a condition with this reason, and returns it.
func (b *bench) condition(t *testing.T, stack, name, reason string) metav1.Condition {
	t.Helper()
	var found metav1.Condition
	eventually(t, func() error {
		object := &v1alpha2.LlamaStackDistribution{}
		if err := b.Get(t.Context(), b.key(stack), object); err != nil {
			return err
		}
		for _, condition := range object.Status.Conditions {
			if condition.Type == name && condition.Reason == reason && condition.ObservedGeneration == object.Generation {
				found = condition
				return nil
			}
		}
		return fmt.Errorf("no condition %s with reason %s of generation %d in %+v", name, reason, object.Generation, object.Status.Conditions)
	})
	return found
}

// says compares a condition with a reason and a message.
func (b *bench) says(t *testing.T, stack, name, reason, message string) error {
	t.Helper()
	object := &v1alpha2.LlamaStackDistribution{}
	b.get(t, stack, object)
	found := meta.FindStatusCondition(object.Status.Conditions, name)
	if found == nil || found.Reason != reason || found.Message != message {
		return fmt.Errorf("condition %s is %+v, want reason %s and message:\n%s", name, found, reason, message)
	}
	return nil
}

// rollOut acts as the cluster's controllers: every wanted pod becomes ready.
func (b *bench) rollOut(t *testing.T, name string) {
	t.Helper()
	deployment := &appsv1.Deployment{}
	b.get(t, name, deployment)
	patch := client.MergeFrom(deployment.DeepCopy())
	wanted := *deployment.Spec.Replicas
	deployment.Status = appsv1.DeploymentStatus{
		ObservedGeneration: deployment.Generation,
		Replicas:           wanted, UpdatedReplicas: wanted, ReadyReplicas: wanted, AvailableReplicas: wanted,
	}
	if err := b.Status().Patch(t.Context(), deployment, patch); err != nil {
		t.Fatal(err)
	}
}
