package manager_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/pflag"
	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/manager"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// output is what the operators of all tests log. controller-runtime keeps the first logger of a process, or none if
// there is no logger within 30 seconds.
var output = &testutil.Log{}

func TestMain(m *testing.M) {
	ctrl.SetLogger(zap.New(zap.WriteTo(output)))
	os.Exit(m.Run())
}

// TestRun runs the whole operator with arguments. It checks that the operator is live and ready before the API server
// serves the operator's kind, because readiness does not depend on the caches if the operator serves webhooks. It also
// checks that the operator serves metrics only to authorized clients, among them all that its alerts and its dashboard
// use, bounds the heads of requests and the lines that strangers cause in its log, and releases its lease.
func TestRun(t *testing.T) {
	cluster := testutil.StartCluster(t, testutil.Options{Bare: true})
	o := startOperator(t, cluster.Kubeconfig)
	o.expect(t, "http://"+o.health+"/healthz", http.StatusOK)
	o.expect(t, "http://"+o.health+"/readyz", http.StatusOK)
	for _, port := range []string{"http://" + o.health, "https://" + o.metrics} {
		o.expect(t, port, http.StatusRequestHeaderFieldsTooLarge, "X", strings.Repeat("x", 32<<10))
	}
	testutil.Must(t, cluster.Plane.Install())
	o.expect(t, "https://"+o.metrics+"/metrics", http.StatusUnauthorized)
	o.expect(t, "https://"+o.metrics+"/metrics", http.StatusUnauthorized, "Authorization", "Bearer wrong")

	admin := cluster.Client
	scraper, stranger := tokenOf(t, admin, "scraper", true), tokenOf(t, admin, "stranger", false)
	for token, code := range map[string]int{scraper: http.StatusOK, stranger: http.StatusForbidden} {
		o.expect(t, "https://"+o.metrics+"/metrics", code, "Authorization", "Bearer "+token)
	}
	if err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 30*time.Second, true,
		func(ctx context.Context) (bool, error) { return leaseHolder(ctx, t, admin) != "", nil }); err != nil {
		t.Fatalf("no replica holds the lease: %v\n%s", err, o.output)
	}
	o.expectMonitored(t, admin, scraper)
	o.expectFewLines(t)
	o.stop(t)
	if holder := leaseHolder(t.Context(), t, admin); holder != "" {
		t.Errorf("%s still holds the lease", holder)
	}
}

// TestReadinessWithoutWebhooks checks that an operator without webhooks becomes ready when the API server serves the
// operator's kind, and not earlier. It does not call Run, because only one call in a process can set the loggers.
func TestReadinessWithoutWebhooks(t *testing.T) {
	plane := testutil.StartCluster(t, testutil.Options{Bare: true}).Plane
	o := &runningOperator{health: testutil.FreeAddress(t), output: output}
	var options manager.Options
	flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
	options.BindFlags(flags)
	testutil.Must(t, flags.Parse([]string{
		"--operator-namespace=default", "--health-probe-bind-address=" + o.health, "--metrics-bind-address=0",
		"--webhook-bind-address=0",
	}))
	ctx, cancel := context.WithCancel(t.Context())
	mgr, err := manager.New(ctx, plane.Config, options, "v1.2.3", func(string) string { return "" })
	testutil.Must(t, err)
	done := make(chan error, 1)
	go func() { done <- mgr.Start(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	o.expect(t, "http://"+o.health+"/healthz", http.StatusOK)
	o.expect(t, "http://"+o.health+"/readyz", http.StatusInternalServerError)
	testutil.Must(t, plane.Install())
	o.expect(t, "http://"+o.health+"/readyz", http.StatusOK)
}

// runningOperator is an operator that runs in the process of the test.
type runningOperator struct {
	health, metrics, webhook string
	output                   *testutil.Log
	cancel                   context.CancelFunc
	done                     chan int
}

// startOperator runs the operator with its webhooks.
func startOperator(t *testing.T, kubeconfig string) *runningOperator {
	t.Helper()
	o := &runningOperator{
		health: testutil.FreeAddress(t), metrics: testutil.FreeAddress(t), webhook: testutil.FreeAddress(t),
		output: output, done: make(chan int, 1),
	}
	ctx, cancel := context.WithCancel(t.Context())
	o.cancel = cancel
	t.Cleanup(cancel)
	go func() {
		o.done <- manager.Run(ctx, []string{
			"--kubeconfig=" + kubeconfig, "--leader-elect", "--operator-namespace=default",
			"--health-probe-bind-address=" + o.health, "--metrics-bind-address=" + o.metrics,
			"--webhook-bind-address=" + o.webhook,
		}, "v1.2.3", func(string) string { return "" }, o.output)
	}()
	return o
}

// expectFewLines checks that a client without credentials does not fill the log.
func (o *runningOperator) expectFewLines(t *testing.T) {
	t.Helper()
	o.expect(t, "https://"+o.webhook+names.ConversionPath, http.StatusMethodNotAllowed)
	web := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	for range 50 {
		_, _ = ask(t.Context(), web, "https://"+o.webhook+names.ValidationPath)
		response, err := web.Post("https://"+o.webhook+names.ConversionPath, "application/json", strings.NewReader(
			`{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1",`+
				`"request":{"uid":"a","desiredAPIVersion":"b","objects":[]}}`))
		if err != nil {
			t.Fatal(err)
		}
		_ = response.Body.Close()
	}
	for _, line := range []string{"A conversion failed", "unknown content type"} {
		if n := strings.Count(o.output.String(), line); n == 0 || n > 30 {
			t.Errorf("%d lines with %q of 50", n, line)
		}
	}
}

// stop stops the operator and checks its exit code.
func (o *runningOperator) stop(t *testing.T) {
	t.Helper()
	o.cancel()
	select {
	case code := <-o.done:
		if code != 0 {
			t.Errorf("exit code %d:\n%s", code, o.output)
		}
	case <-time.After(30 * time.Second):
		t.Fatalf("the operator does not stop:\n%s", o.output)
	}
}

// tokenOf creates a ServiceAccount with or without the permission to read metrics, and returns a token for it.
func tokenOf(t *testing.T, admin client.Client, account string, mayRead bool) string {
	t.Helper()
	owner := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: account}}
	made := []client.Object{owner}
	if mayRead {
		objects, err := testutil.ReadObjects(filepath.Join(testutil.Root(), "config", "rbac", "metrics_role.yaml"))
		testutil.Must(t, err)
		reader := objects[len(objects)-1]
		made = append(made, reader, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: account},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: reader.GetKind(), Name: reader.GetName()},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: owner.Namespace, Name: account}},
		})
	}
	for _, object := range made {
		testutil.Must(t, admin.Create(t.Context(), object))
	}
	var request authenticationv1.TokenRequest
	testutil.Must(t, admin.SubResource("token").Create(t.Context(), owner, &request))
	return request.Status.Token
}

// leaseHolder returns the replica that holds the lease. The name is empty if no replica holds it.
func leaseHolder(ctx context.Context, t *testing.T, c client.Client) string {
	t.Helper()
	var lease coordinationv1.Lease
	err := c.Get(ctx, client.ObjectKey{Namespace: "default", Name: names.LeaderElectionID}, &lease)
	if client.IgnoreNotFound(err) != nil {
		t.Fatal(err)
	}
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// expect polls until the response from the address has the status code. The request has the given header, if any.
func (o *runningOperator) expect(t *testing.T, url string, code int, header ...string) {
	t.Helper()
	web := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}}}
	var last string
	err := wait.PollUntilContextTimeout(t.Context(), 50*time.Millisecond, 30*time.Second, true,
		func(ctx context.Context) (bool, error) {
			var got int
			got, last = ask(ctx, web, url, header...)
			return got == code, nil
		})
	if err != nil {
		t.Fatalf("%s does not answer with %d: %s\n%s", url, code, last, o.output)
	}
}

// ask returns the status code of the response, and a description of the response for messages. If the request fails,
// ask returns 0 and the error.
func ask(ctx context.Context, web *http.Client, url string, header ...string) (code int, text string) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		return 0, err.Error()
	}
	if len(header) > 0 {
		request.Header.Set(header[0], header[1])
	}
	response, err := web.Do(request)
	if err != nil {
		return 0, err.Error()
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	return response.StatusCode, fmt.Sprintf("status %d: %s (%v)", response.StatusCode, body, err)
}
