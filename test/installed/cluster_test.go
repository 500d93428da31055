package installed

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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

// openShiftDefinitions returns kubectl's arguments for OpenShift's definitions of the kinds by which the operator
// recognizes OpenShift. The module next to this package pins their version.
func openShiftDefinitions(t *testing.T) []string {
	t.Helper()
	var module struct{ Dir string }
	said := run(t, filepath.Join(testutil.Root(), "test/installed/openshift"), "go", "mod", "download", "-json",
		"github.com/openshift/api")
	testutil.Must(t, json.Unmarshal([]byte(said), &module))
	return []string{
		"--filename=" + filepath.Join(module.Dir, "route/v1/zz_generated.crd-manifests/routes.crd.yaml"),
		"--filename=" + filepath.Join(module.Dir,
			"payload-manifests/crds/0000_03_config-operator_01_securitycontextconstraints.crd.yaml"),
	}
}

func (c *cluster) makeNamespace(t *testing.T, name string) {
	t.Helper()
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	testutil.Must(t, client.IgnoreAlreadyExists(c.Create(t.Context(), namespace)))
}

// eventually polls until the function check returns nil, and fails the test if this takes longer than the constant
// `patience`.
func eventually(t *testing.T, check func() error) {
	t.Helper()
	testutil.Within(t, patience, check)
}

// call is one request in the API server's audit log.
type call struct {
	Verb           string
	Stage          string
	RequestURI     string
	User           struct{ Username string }
	ObjectRef      *struct{ Resource, Subresource, Namespace, Name string }
	ResponseStatus struct {
		Code    int
		Message string
	}
}

func (c call) String() string {
	return fmt.Sprintf("%s %s: %d %s", c.Verb, c.RequestURI, c.ResponseStatus.Code, c.ResponseStatus.Message)
}

// mark returns the current length of the audit log.
func (c *cluster) mark(t *testing.T) int {
	t.Helper()
	return len(c.audit(t))
}

func (c *cluster) audit(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile(c.auditLog)
	testutil.Must(t, err)
	return data
}

// calls returns the requests that a user has sent since the mark.
func (c *cluster) calls(t *testing.T, user string, mark int) []call {
	t.Helper()
	var calls []call
	for line := range bytes.Lines(c.audit(t)[mark:]) {
		var each call
		if err := json.Unmarshal(line, &each); err != nil {
			continue // the API server has not yet written the complete line
		}
		if each.User.Username == user {
			calls = append(calls, each)
		}
	}
	if len(calls) < 20 {
		t.Errorf("found only %d requests of %s; the test probably reads the audit log incorrectly", len(calls), user)
	}
	return calls
}

// expectNothingRefused checks that no request from the operator was denied.
func expectNothingRefused(t *testing.T, calls []call) {
	t.Helper()
	for _, each := range calls {
		if code := each.ResponseStatus.Code; code == http.StatusForbidden || code == http.StatusUnauthorized {
			t.Errorf("a denied request: %s", each)
		}
	}
}

// expectOnlyIn checks that each request is for one of the given namespaces, and not for all namespaces, any other
// namespace, or a cluster-wide object. It ignores requests that the API server allows for every client.
func expectOnlyIn(t *testing.T, calls []call, namespaces ...string) {
	t.Helper()
	for _, each := range calls {
		if each.ObjectRef != nil && each.ObjectRef.Resource != "" && !slices.Contains(namespaces, each.ObjectRef.Namespace) {
			t.Errorf("a request outside the namespaces %q: %s", namespaces, each)
		}
	}
}
