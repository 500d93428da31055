package installed

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const (
	patience = 60 * time.Second
	poll     = 50 * time.Millisecond
)

// cluster is an API server with the controllers that create pods and remove namespaces.
type cluster struct {
	*testutil.Cluster

	auditLog string
	program  string
}

func startCluster(t *testing.T) *cluster {
	t.Helper()
	c := &cluster{auditLog: filepath.Join(t.TempDir(), "audit.log"), program: testutil.BuildOperator(t, "installed")}
	c.Cluster = testutil.StartCluster(t, testutil.Options{Bare: true, AuditLog: c.auditLog})
	testutil.RunControllers(t, c.Kubeconfig, []string{
		"deployment-controller", "replicaset-controller", "namespace-controller",
	})
	return c
}

// run runs a command in a folder and returns its output.
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

// kubectl runs the real kubectl as an administrator.
func (c *cluster) kubectl(t *testing.T, arguments ...string) string {
	t.Helper()
	return run(t, testutil.Root(), testutil.Kubectl(), append([]string{"--kubeconfig=" + c.Kubeconfig}, arguments...)...)
}

func (c *cluster) makeNamespace(t *testing.T, name string) {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	if err := client.IgnoreAlreadyExists(c.Create(t.Context(), namespace)); err != nil {
		t.Fatal(err)
	}
}

// eventually polls until the function check returns nil, and fails the test if this takes longer than the constant
// `patience`.
func eventually(t *testing.T, check func() error) {
	t.Helper()
	testutil.Within(t, patience, check)
}
