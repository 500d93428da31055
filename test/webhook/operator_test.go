package webhook

import (
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// operator is one replica: a process with the rights of the shipped ServiceAccount.
type operator struct {
	port    uint16 // of the webhooks
	health  string // address
	log     testutil.Log
	process *exec.Cmd
}

// start starts a replica, with further options if any.
func (c *cluster) start(t testing.TB, options ...string) *operator {
	t.Helper()
	token, err := c.Plane.OperatorToken(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	if err := testutil.WriteKubeconfig(kubeconfig, c.Plane.Config.Host, c.Plane.Config.CAData, writeFile(t, "token", []byte(token))); err != nil {
		t.Fatal(err)
	}
	o := &operator{port: netip.MustParseAddrPort(testutil.FreeAddress(t)).Port(), health: testutil.FreeAddress(t)}
	o.process = exec.CommandContext(t.Context(), c.program, append([]string{
		"--leader-elect", "--kubeconfig=" + kubeconfig, "--metrics-bind-address=0",
		"--operator-namespace=" + names.OperatorNamespace, "--health-probe-bind-address=" + o.health, fmt.Sprintf("--webhook-bind-address=:%d", o.port),
	}, options...)...)
	o.process.Env = []string{"HOME=" + t.TempDir(), "GOMEMLIMIT=340MiB"}
	o.process.Stdout, o.process.Stderr = &o.log, &o.log
	o.process.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL}
	o.process.WaitDelay = 5 * time.Second
	if err := o.process.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		o.kill(t)
		if t.Failed() {
			t.Logf("the operator at port %d said:\n%s", o.port, o.log.String())
		}
	})
	return o
}

// ready returns an error until the kubelet would take the replica for ready.
func (o *operator) ready() error {
	answer, err := http.Get("http://" + o.health + "/readyz?verbose")
	if err != nil {
		return fmt.Errorf("ask for readiness: %w", err)
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return fmt.Errorf("not ready: %s", answer.Status)
	}
	return nil
}

// kill ends the program as nobody can prepare for.
func (o *operator) kill(t testing.TB) {
	t.Helper()
	if o.process == nil {
		return
	}
	_ = o.process.Process.Kill() // ended already
	_ = o.process.Wait()         // by a signal
	o.process = nil
}

// startReplicas starts both replicas, and publishes them when they are ready.
func (c *cluster) startReplicas(t testing.TB) []*operator {
	t.Helper()
	replicas := []*operator{c.start(t), c.start(t)}
	for _, o := range replicas {
		testutil.Within(t, patience, o.ready)
	}
	c.publish(t, replicas...)
	return replicas
}

// validates returns an error until the replica itself refuses an unknown distribution. It is asked past the API server, which
// keeps to one replica, and takes what the webhook does not answer for.
func (o *operator) validates() error {
	const review = `{"apiVersion":"admission.k8s.io/v1","kind":"AdmissionReview","request":{"uid":"1","operation":"CREATE",` +
		`"kind":{"group":"llamastack.io","version":"v1alpha2","kind":"LlamaStackDistribution"},"object":{"apiVersion":"llamastack.io/v1alpha2",` +
		`"kind":"LlamaStackDistribution","metadata":{"name":"x","namespace":"default"},"spec":{"distribution":{"name":"startr"}}}}}`
	insecure := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}} // the API server checks it
	answer, err := insecure.Post(fmt.Sprintf("https://127.0.0.1:%d%s", o.port, names.ValidationPath), "application/json", strings.NewReader(review))
	if err != nil {
		return fmt.Errorf("ask a replica: %w", err)
	}
	defer answer.Body.Close()
	said, err := io.ReadAll(answer.Body)
	if err != nil || !strings.Contains(string(said), `unknown distribution \"startr\"`) {
		return fmt.Errorf("the replica at port %d answers %s: %w", o.port, said, err)
	}
	return nil
}
