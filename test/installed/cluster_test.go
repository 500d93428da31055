package installed

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const (
	patience = 60 * time.Second
	poll     = 50 * time.Millisecond
)

// cluster is an API server with the controllers that make pods and remove namespaces.
type cluster struct {
	client.Client
	plane      *testutil.ControlPlane
	kubeconfig string
	auditLog   string
	program    string
}

func startCluster(t *testing.T) *cluster {
	t.Helper()
	folder := t.TempDir()
	c := &cluster{
		kubeconfig: filepath.Join(folder, "kubeconfig"), auditLog: filepath.Join(folder, "audit.log"), program: filepath.Join(folder, "manager"),
	}
	var err error
	if c.plane, err = testutil.Start(testutil.Options{Bare: true, AuditLog: c.auditLog}); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	config, err := c.plane.Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(c.kubeconfig, config, 0o600); err != nil {
		t.Fatal(err)
	}
	if c.Client, err = c.plane.Client(); err != nil {
		t.Fatal(err)
	}
	testutil.RunControllers(t, c.kubeconfig, []string{
		"deployment-controller", "replicaset-controller", "namespace-controller",
	})
	run(t, testutil.Root(), "go", "build", "-o", c.program, "./cmd/manager")
	return c
}

// run runs a command in a folder and gives what it printed.
func run(t *testing.T, folder, name string, arguments ...string) string {
	t.Helper()
	command := exec.CommandContext(t.Context(), name, arguments...)
	command.Dir = folder
	output, err := command.CombinedOutput()
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(arguments, " "), err, output)
	}
	return string(output)
}

// kubectl runs the real one as an administrator.
func (c *cluster) kubectl(t *testing.T, arguments ...string) string {
	t.Helper()
	return run(t, testutil.Root(), testutil.Kubectl(), append([]string{"--kubeconfig=" + c.kubeconfig}, arguments...)...)
}

func (c *cluster) makeNamespace(t *testing.T, name string) {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := client.IgnoreAlreadyExists(c.Create(t.Context(), namespace)); err != nil {
		t.Fatal(err)
	}
}

// eventually polls until check is content.
func eventually(t *testing.T, check func() error) {
	t.Helper()
	var last error
	err := wait.PollUntilContextTimeout(t.Context(), poll, patience, true, func(context.Context) (bool, error) {
		last = check()
		return last == nil, nil
	})
	if err != nil {
		t.Fatalf("not within %v: %v", patience, last)
	}
}
