package webhook

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// patience is how long a state may take to come.
const patience = 60 * time.Second

// cluster is a control plane whose API server reaches Services by their endpoints,
// because it has no node that would route to their addresses.
type cluster struct {
	*testutil.Cluster

	program string
	address string // of this machine
}

func startCluster(t testing.TB) *cluster {
	t.Helper()
	log.SetLogger(logr.Discard())
	return &cluster{
		Cluster: testutil.StartCluster(t, testutil.Options{Bare: true, APIServerFlags: map[string]string{"enable-aggregator-routing": "true"}}),
		program: testutil.BuildOperator(t, "webhook"), address: ownAddress(t),
	}
}

// ownAddress is an address of this machine that an endpoint may have: not a
// loopback one.
func ownAddress(t testing.TB) string {
	t.Helper()
	addresses, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range addresses {
		if network, ok := address.(*net.IPNet); ok && network.IP.To4() != nil && network.IP.IsGlobalUnicast() {
			return network.IP.String()
		}
	}
	t.Fatal("this machine has no IPv4 address but loopback ones, so no Service can lead to it")
	return ""
}

// kubectl runs the real one as an administrator, and returns what it printed.
func (c *cluster) kubectl(t testing.TB, arguments ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), testutil.Kubectl(), append([]string{"--kubeconfig=" + c.Kubeconfig}, arguments...)...)
	output, err := command.CombinedOutput()
	return string(output), err
}

func (c *cluster) mustKubectl(t testing.TB, arguments ...string) string {
	t.Helper()
	output, err := c.kubectl(t, arguments...)
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(arguments, " "), err, output)
	}
	return output
}

// install applies the shipped manifests.
func (c *cluster) install(t testing.TB) {
	t.Helper()
	// The first apply may come before the API server serves the kinds of its own objects.
	testutil.Within(t, patience, func() error {
		output, err := c.kubectl(t, "apply", "--server-side", "--force-conflicts", "-f", filepath.Join(testutil.Root(), "dist", "install.yaml"))
		if err != nil {
			return fmt.Errorf("%w: %s", err, output)
		}
		return nil
	})
}

// publish leads the Service of the webhooks to these operators, as the cluster does
// with pods that are ready.
func (c *cluster) publish(t testing.TB, operators ...*operator) {
	t.Helper()
	old := &discoveryv1.EndpointSlice{}
	err := c.DeleteAllOf(t.Context(), old, client.InNamespace(names.OperatorNamespace), client.MatchingLabels{discoveryv1.LabelServiceName: names.WebhookService})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range operators {
		slice := &discoveryv1.EndpointSlice{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: names.OperatorNamespace, GenerateName: names.WebhookService + "-",
				Labels: map[string]string{discoveryv1.LabelServiceName: names.WebhookService},
			},
			AddressType: discoveryv1.AddressTypeIPv4,
			Endpoints:   []discoveryv1.Endpoint{{Addresses: []string{c.address}, Conditions: discoveryv1.EndpointConditions{Ready: new(true)}}},
			Ports:       []discoveryv1.EndpointPort{{Name: new("https"), Port: new(int32(o.port)), Protocol: new(corev1.ProtocolTCP)}},
		}
		if err := c.Create(t.Context(), slice); err != nil {
			t.Fatal(err)
		}
	}
}

// list reads every stack in a version.
func (c *cluster) list(t testing.TB, version string) ([]unstructured.Unstructured, error) {
	t.Helper()
	list := &unstructured.UnstructuredList{}
	list.SetAPIVersion(v1alpha2.GroupVersion.Group + "/" + version)
	list.SetKind(v1alpha2.Kind + "List")
	err := c.List(t.Context(), list)
	return list.Items, err
}

// bothLists fails until both versions can be listed, with so many stacks.
func (c *cluster) bothLists(t testing.TB, want int) error {
	t.Helper()
	for _, version := range []string{v1alpha1.GroupVersion.Version, v1alpha2.GroupVersion.Version} {
		if items, err := c.list(t, version); err != nil || len(items) != want {
			return fmt.Errorf("%d of %d stacks of %s: %w", len(items), want, version, err)
		}
	}
	return nil
}

func writeFile(t testing.TB, name string, data []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
