package manager_test

import (
	"context"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	authenticationv1 "k8s.io/api/authentication/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/manager"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// TestRun runs the whole operator with arguments. It checks that the operator's liveness probe succeeds immediately,
// and that the readiness probe succeeds when the API server serves the operator's kind. It also checks that the
// operator serves metrics only to authorized clients, and releases its lease.
func TestRun(t *testing.T) {
	plane, err := testutil.Start(testutil.Options{Bare: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	kubeconfig := filepath.Join(t.TempDir(), "kubeconfig")
	data, err := plane.Kubeconfig()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(kubeconfig, data, 0o600); err != nil {
		t.Fatal(err)
	}
	health, metrics, webhooks := freeAddress(t), freeAddress(t), freeAddress(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	output := &testutil.Log{}
	done := make(chan int, 1)
	go func() {
		done <- manager.Run(ctx, []string{
			"--kubeconfig=" + kubeconfig, "--leader-elect", "--operator-namespace=default",
			"--health-probe-bind-address=" + health, "--metrics-bind-address=" + metrics,
			"--webhook-bind-address=" + webhooks,
		}, "v1.2.3", func(string) string { return "" }, output)
	}()

	expect(t, output, "http://"+health+"/healthz", http.StatusOK)
	expect(t, output, "http://"+health+"/readyz", http.StatusInternalServerError)
	if err := plane.Install(); err != nil {
		t.Fatal(err)
	}
	expect(t, output, "http://"+health+"/readyz", http.StatusOK)
	expect(t, output, "https://"+metrics+"/metrics", http.StatusUnauthorized)

	admin, err := plane.Client()
	if err != nil {
		t.Fatal(err)
	}
	for account, code := range map[string]int{"scraper": http.StatusOK, "stranger": http.StatusForbidden} {
		token := tokenOf(t, admin, account, code == http.StatusOK)
		expect(t, output, "https://"+metrics+"/metrics", code, "Authorization", "Bearer "+token)
	}
	if holder := leaseHolder(t, admin); holder == "" {
		t.Error("no replica holds the lease")
	}
	cancel()
	select {
	case code := <-done:
		if code != 0 {
			t.Errorf("exit code %d:\n%s", code, output)
		}
	case <-time.After(30 * time.Second):
		t.Fatalf("the operator does not stop:\n%s", output)
	}
	if holder := leaseHolder(t, admin); holder != "" {
		t.Errorf("%s still holds the lease", holder)
	}
}

// tokenOf creates a ServiceAccount with or without the permission to read metrics, and returns a token for it.
func tokenOf(t *testing.T, admin client.Client, account string, mayRead bool) string {
	t.Helper()
	owner := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: account}}
	made := []client.Object{owner}
	if mayRead {
		objects, err := testutil.ReadObjects(filepath.Join(testutil.Root(), "config", "rbac", "metrics_role.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		reader := objects[len(objects)-1]
		made = append(made, reader, &rbacv1.ClusterRoleBinding{
			ObjectMeta: metav1.ObjectMeta{Name: account},
			RoleRef:    rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: reader.GetKind(), Name: reader.GetName()},
			Subjects:   []rbacv1.Subject{{Kind: rbacv1.ServiceAccountKind, Namespace: owner.Namespace, Name: account}},
		})
	}
	for _, object := range made {
		if err := admin.Create(t.Context(), object); err != nil {
			t.Fatal(err)
		}
	}
	var request authenticationv1.TokenRequest
	if err := admin.SubResource("token").Create(t.Context(), owner, &request); err != nil {
		t.Fatal(err)
	}
	return request.Status.Token
}

func leaseHolder(t *testing.T, c client.Client) string {
	t.Helper()
	var lease coordinationv1.Lease
	if err := c.Get(t.Context(), client.ObjectKey{Namespace: "default", Name: names.LeaderElectionID},
		&lease); err != nil {
		t.Fatal(err)
	}
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// expect polls until the response from the address has the status code. The request has the given header, if any.
func expect(t *testing.T, output fmt.Stringer, url string, code int, header ...string) {
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
		t.Fatalf("%s does not answer with %d: %s\n%s", url, code, last, output)
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

func freeAddress(t *testing.T) string {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	return listener.Addr().String()
}
