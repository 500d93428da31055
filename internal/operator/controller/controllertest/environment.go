package controllertest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cluster/probe"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const (
	// Timeout is the maximum time that a test waits for a change that the operator makes without a planned delay.
	Timeout = 20 * time.Second
	// PollInterval is the pause between two checks of a condition.
	PollInterval = 20 * time.Millisecond
)

var (
	controlPlane *testutil.ControlPlane
	audit        = &auditLog{}
	operatorLog  = &testutil.Log{}
	constructor  NewReconcilerFunc
	startWorkers StartWorkersFunc
)

// Main runs the tests of a package and returns the exit code. The tests fail if an operator lacked the permission for a
// request. StartReconciler creates Reconcilers with newReconciler, and starts their workers with `start`.
func Main(m *testing.M, newReconciler NewReconcilerFunc, start StartWorkersFunc) int {
	constructor, startWorkers = newReconciler, start
	ctrl.SetLogger(zap.New(zap.WriteTo(operatorLog), zap.UseDevMode(true)))
	defer func() {
		if controlPlane == nil {
			return
		}
		if err := controlPlane.Stop(); err != nil {
			fmt.Fprintln(os.Stderr, err)
		}
		os.RemoveAll(filepath.Dir(audit.path))
	}()
	code := m.Run()
	// A quota, or a definition that is being deleted, also causes "forbidden" errors.
	if strings.Contains(operatorLog.String(), "is forbidden: User ") {
		fmt.Fprintln(os.Stderr, "the shipped roles lack permissions that the operator needs:\n"+operatorLog.String())
		return 1
	}
	return code
}

// startControlPlane starts the control plane when the first test needs it. Tests of single steps do not need it.
var startControlPlane = sync.OnceValue(func() error {
	folder, err := os.MkdirTemp("", "controller-test-")
	if err != nil {
		return err
	}
	audit.path = filepath.Join(folder, "audit.log")
	started, err := testutil.Start(testutil.Options{
		AuditLog: audit.path,
		// The range is large enough for the Services of hundreds of stacks.
		APIServerFlags: map[string]string{"service-cluster-ip-range": "10.0.0.0/16"},
	})
	if err != nil {
		return err
	}
	controlPlane = started
	return controlPlane.InstallRights()
})

// ControlPlane returns the API server that all environments share. It is nil before the first call to NewEnvironment.
func ControlPlane() *testutil.ControlPlane { return controlPlane }

// AuditLog returns the path of the API server's audit log.
func AuditLog() string { return audit.path }

// OperatorLog returns the log of all operators and reconcilers.
func OperatorLog() *testutil.Log { return operatorLog }

// Environment is one test's namespace on the API server, and the options of the operators that run in it. Set the
// options before you start an operator.
type Environment struct {
	// Client has the permissions of an administrator.
	Client client.Client
	// Namespace is the namespace of the test.
	Namespace string
	// AllNamespaces makes operators work in all namespaces. Otherwise, they work in Namespace only.
	AllNamespaces bool
	// OwnOperatorConfig makes Namespace the operators' own namespace too, so that the test controls their ConfigMap.
	OwnOperatorConfig bool
	// Workers makes a Reconciler query servers and read images in the background, as an operator always does.
	Workers bool
	// ServiceAccount is the ServiceAccount that operators run as. Empty means the shipped ServiceAccount.
	ServiceAccount string
	// DialServer connects to servers. Nil means that no server can be reached.
	DialServer probe.Dial
	// ProbeInterval is the pause between two health checks of providers. Zero means the default.
	ProbeInterval time.Duration
	// TagInterval is the pause between two comparisons of a tag. Zero means the default.
	TagInterval time.Duration
}

// NewEnvironment returns an environment with a new namespace. The first call starts the API server. At the end of the
// test, the environment deletes the stacks in the namespace.
func NewEnvironment(t *testing.T) *Environment {
	t.Helper()
	if err := startControlPlane(); err != nil {
		t.Fatal(err)
	}
	admin, err := controlPlane.Client()
	if err != nil {
		t.Fatal(err)
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{GenerateName: "controller-"}}
	if err := admin.Create(t.Context(), namespace); err != nil {
		t.Fatal(err)
	}
	env := &Environment{Client: admin, Namespace: namespace.Name}
	t.Cleanup(func() { env.DeleteStacks(t) }) // another test's operator may work in all namespaces
	return env
}

// DeleteStacks deletes the test's stacks.
func (env *Environment) DeleteStacks(t *testing.T) {
	t.Helper()
	if err := env.Client.DeleteAllOf(context.WithoutCancel(t.Context()), &v1alpha2.LlamaStackDistribution{},
		client.InNamespace(env.Namespace)); err != nil {
		t.Error(err)
	}
}

// Create creates objects in the test's namespace.
func (env *Environment) Create(t *testing.T, objects ...client.Object) {
	t.Helper()
	for _, object := range objects {
		object.SetNamespace(env.Namespace)
		if err := env.Client.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
}

// Get reads an object in the test's namespace.
func (env *Environment) Get(t *testing.T, name string, into client.Object) {
	t.Helper()
	if err := env.Client.Get(t.Context(), env.Key(name), into); err != nil {
		t.Fatal(err)
	}
}

// Update updates an object.
func (env *Environment) Update(t *testing.T, object client.Object) {
	t.Helper()
	succeeds(t, env.Client.Update(t.Context(), object))
}

// UpdateStatus updates the status of an object.
func (env *Environment) UpdateStatus(t *testing.T, object client.Object) {
	t.Helper()
	succeeds(t, env.Client.Status().Update(t.Context(), object))
}

// Patch patches an object.
func (env *Environment) Patch(t *testing.T, object client.Object, patch client.Patch) {
	t.Helper()
	succeeds(t, env.Client.Patch(t.Context(), object, patch))
}

// PatchStatus patches the status of an object.
func (env *Environment) PatchStatus(t *testing.T, object client.Object, patch client.Patch) {
	t.Helper()
	succeeds(t, env.Client.Status().Patch(t.Context(), object, patch))
}

// Delete deletes an object.
func (env *Environment) Delete(t *testing.T, object client.Object, options ...client.DeleteOption) {
	t.Helper()
	succeeds(t, env.Client.Delete(t.Context(), object, options...))
}

func succeeds(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// Key returns the key of an object in the test's namespace.
func (env *Environment) Key(name string) client.ObjectKey {
	return client.ObjectKey{Namespace: env.Namespace, Name: name}
}

// WaitUntil polls until `check` returns nil. If the test uses a Reconciler, WaitUntil reconciles before each check.
// After Timeout, the test fails with the last errors from `check` and from the Reconciler.
func WaitUntil(t *testing.T, check func() error) {
	t.Helper()
	testutil.Within(t, Timeout, func() error {
		Reconcile(t)
		err := check()
		if failed := reconcileError(t); err != nil && failed != nil {
			return fmt.Errorf("%w\nthe last reconcile failed: %w", err, failed)
		}
		return err
	})
}
