package webhook

import (
	"bytes"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

const (
	// A large stack has largeParts arguments of largePart bytes each. Its size is close to etcd's limit.
	largeParts, largePart = 362, 4 << 10
	largeObjectSize       = largeParts * largePart
	// storedObjects is the number of stacks in the API server. The number is small, because for a list of any length, the
	// API server calls the webhook for one stack at a time.
	storedObjects = 40
	// reviewObjects is the number of objects in one review. Their total size is 300 MiB, which is the maximum that the API
	// allows.
	reviewObjects = 210
	// memoryLimit is the memory limit of the operator's container, in KiB.
	memoryLimit = 512 << 10
	// afterLarge is the time limit for reading all stacks from the API server.
	afterLarge = 5 * time.Minute
)

// BenchmarkLarge installs the operator in a cluster with the largest possible v1alpha1 stacks, lists them in both
// versions, and sends reviews of 300 MiB. It fails if the operator uses more memory than its container allows.
func BenchmarkLarge(b *testing.B) {
	c := startCluster(b)
	c.InstallOlder(b)
	for i := range storedObjects {
		testutil.Must(b, c.Create(b.Context(), largeStack(i), client.FieldOwner("manager")))
	}
	c.Install(b)
	// The leader renews its lease with requests to the API server. On a machine with few cores, the API server may be
	// too busy with these stacks to respond within the default time.
	o := c.StartOperator(b, "--leader-elect-lease-duration=10m", "--leader-elect-renew-deadline=9m")
	testutil.Within(b, patience, o.Ready)
	c.Publish(b, o)
	c.listLarge(b, o)
	for b.Loop() {
		c.reviewLarge(b, o)
	}
	b.ReportMetric(float64(peak(b, o)>>10), "MiB-peak")
	if most := peak(b, o); most > memoryLimit {
		b.Errorf("the program used %d MiB, which is more than the memory limit of its container", most>>10)
	} else {
		b.Logf("at most %d MiB in memory", most>>10)
	}
}

// listLarge reads all stacks in both versions.
func (c *cluster) listLarge(b *testing.B, o *operator) {
	b.Helper()
	calls, err := rest.HTTPClientFor(c.Plane.Config)
	testutil.Must(b, err)
	server, _, err := rest.DefaultServerUrlFor(c.Plane.Config)
	testutil.Must(b, err)
	for _, version := range []string{v1alpha2.GroupVersion.Version, v1alpha1.GroupVersion.Version} {
		address := server.JoinPath("apis", v1alpha2.GroupVersion.Group, version, "llamastackdistributions").String()
		var read int64
		request, err := http.NewRequestWithContext(b.Context(), http.MethodGet, address, nil)
		testutil.Must(b, err)
		took := testutil.Within(b, afterLarge, func() (err error) {
			read, err = readAll(calls, request)
			return err
		})
		if least := int64(storedObjects * largeObjectSize); read < least {
			b.Errorf("a list in %s has %d bytes, want at least %d", version, read, least)
		}
		b.Logf("%s: %d MiB after %v, at most %d MiB in memory", version, read>>20, took.Round(time.Second), peak(b, o)>>10)
	}
}

// reviewLarge sends two reviews of 300 MiB at the same time. The operator processes at most two large reviews
// concurrently.
func (c *cluster) reviewLarge(b *testing.B, o *operator) {
	b.Helper()
	object, err := json.Marshal(largeStack(0))
	testutil.Must(b, err)
	var secret corev1.Secret
	testutil.Must(b, c.Get(b.Context(), client.ObjectKey{
		Namespace: names.OperatorNamespace,
		Name:      names.WebhookCertificateSecret,
	}, &secret))
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(secret.Data[corev1.ServiceAccountRootCAKey])
	calls := http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{
		RootCAs: roots, ServerName: serverName,
		MinVersion: tls.VersionTLS12,
	}}}
	var group errgroup.Group
	for range 2 {
		group.Go(func() error {
			body, size := review(object, reviewObjects)
			request, err := http.NewRequestWithContext(b.Context(), http.MethodPost,
				fmt.Sprintf("https://%s:%d%s", c.Address, o.Port, names.ConversionPath), body)
			if err != nil {
				return err
			}
			request.ContentLength = size
			request.Header.Set("Content-Type", "application/json")
			read, err := readAll(&calls, request)
			if err == nil && read < reviewObjects*largeObjectSize {
				err = fmt.Errorf("the response to a review of %d MiB has only %d MiB", size>>20, read>>20)
			}
			return err
		})
	}
	if err := group.Wait(); err != nil {
		b.Error(err)
	}
}

// review returns a reader for a ConversionReview that contains one object many times, and the size of the review.
func review(object []byte, times int) (io.Reader, int64) {
	head := fmt.Sprintf(`{"kind":"ConversionReview","apiVersion":"apiextensions.k8s.io/v1","request":{"uid":"u","desiredAPIVersion":%q,"objects":[`,
		v1alpha2.GroupVersion.String())
	parts, size := []io.Reader{strings.NewReader(head)}, len(head)
	for i := range times {
		if i > 0 {
			parts = append(parts, strings.NewReader(","))
			size++
		}
		parts = append(parts, bytes.NewReader(object))
		size += len(object)
	}
	const tail = `]}}`
	return io.MultiReader(append(parts, strings.NewReader(tail))...), int64(size + len(tail))
}

// largeStack returns a v1alpha1 stack with the longest possible arguments.
func largeStack(i int) *unstructured.Unstructured {
	args := make([]any, largeParts)
	for j := range args {
		args[j] = strings.Repeat("x", largePart)
	}
	stack := &unstructured.Unstructured{Object: map[string]any{"spec": map[string]any{
		"replicas": int64(0),
		"server": map[string]any{
			"distribution":  map[string]any{"name": "starter"},
			"containerSpec": map[string]any{"args": args},
		},
	}}}
	stack.SetGroupVersionKind(v1alpha1.GroupVersion.WithKind(v1alpha2.Kind))
	stack.SetNamespace("default")
	stack.SetName(fmt.Sprintf("large-%d", i))
	return stack
}

// readAll reads the response to a request, discards it, and returns its size in bytes.
func readAll(calls *http.Client, request *http.Request) (int64, error) {
	answer, err := calls.Do(request)
	if err != nil {
		return 0, err
	}
	defer func() { _ = answer.Body.Close() }()
	if answer.StatusCode != http.StatusOK {
		said, _ := io.ReadAll(io.LimitReader(answer.Body, 1<<10))
		return 0, fmt.Errorf("%s: %s", answer.Status, said)
	}
	return io.Copy(io.Discard, answer.Body)
}

// peak returns the operator's maximum memory usage, in KiB.
func peak(t testing.TB, o *operator) int {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", o.Process.Process.Pid))
	testutil.Must(t, err)
	for line := range strings.Lines(string(text)) {
		var peak int
		if _, err := fmt.Sscanf(line, "VmHWM: %d kB", &peak); err == nil {
			return peak
		}
	}
	t.Fatalf("the program has ended:\n%s", o.Log.String())
	return 0
}
