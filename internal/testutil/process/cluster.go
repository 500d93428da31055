package process

import (
	"fmt"
	"maps"
	"net"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/log"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// Patience is the maximum time that a test waits for an expected state.
const Patience = 60 * time.Second

// Version is the version that the operator binary reports.
const Version = "process"

// Cluster is a control plane whose API server reaches Services through their endpoints, because there is no node that
// routes to the addresses of Services.
type Cluster struct {
	*testutil.Cluster

	// Program is the path of the operator binary.
	Program string
	// Environment lists additional environment variables for the operator's processes, as KEY=value.
	Environment []string
	// Address is an address of this machine that is valid in an endpoint.
	Address string
}

// StartCluster starts a control plane without the CustomResourceDefinition of stacks, and builds the operator binary.
func StartCluster(t testing.TB, options testutil.Options) *Cluster {
	t.Helper()
	log.SetLogger(logr.Discard())
	flags := map[string]string{"enable-aggregator-routing": "true"}
	maps.Copy(flags, options.APIServerFlags)
	options.Bare, options.APIServerFlags = true, flags
	return &Cluster{
		Cluster: testutil.StartCluster(t, options),
		Program: testutil.BuildOperator(t, Version), Address: ownAddress(t),
	}
}

// ownAddress returns an address of this machine that is valid in an endpoint. A loopback address is not valid there.
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
	t.Fatal("this machine has no global unicast IPv4 address, so no Service can route to this machine")
	return ""
}

// Kubectl runs the real kubectl as an administrator, and returns its output.
func (c *Cluster) Kubectl(t testing.TB, arguments ...string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), testutil.Kubectl(),
		append([]string{"--kubeconfig=" + c.Kubeconfig}, arguments...)...)
	output, err := command.CombinedOutput()
	return string(output), err
}

// MustKubectl does the same as Kubectl, but it ends the test if kubectl fails.
func (c *Cluster) MustKubectl(t testing.TB, arguments ...string) string {
	t.Helper()
	output, err := c.Kubectl(t, arguments...)
	if err != nil {
		t.Fatalf("kubectl %s: %v\n%s", strings.Join(arguments, " "), err, output)
	}
	return output
}

// InstallOlder applies the predecessor operator's CustomResourceDefinition, and waits until the API server serves it.
func (c *Cluster) InstallOlder(t testing.TB) {
	t.Helper()
	c.MustKubectl(t, "apply", "--server-side", "-f", DefinitionBefore())
	c.WaitEstablished(t, "crd/"+names.CustomResourceDefinition)
}

// DefinitionBefore returns the file with the predecessor operator's CustomResourceDefinition.
func DefinitionBefore() string {
	return filepath.Join(testutil.Root(), "test", "api", "testdata", "definition-before.yaml")
}

// Install applies the shipped manifests.
func (c *Cluster) Install(t testing.TB) {
	t.Helper()
	manifest := testutil.ManifestFile(t, "default")
	// The first apply can fail, because the API server does not yet serve the kinds that the manifests define.
	testutil.Within(t, Patience, func() error {
		output, err := c.Kubectl(t, "apply", "--server-side", "--force-conflicts", "-f", manifest)
		if err != nil {
			return fmt.Errorf("%w: %s", err, output)
		}
		return nil
	})
}

// Publish makes the webhooks' Service route requests to these operators, as a cluster does for ready pods.
func (c *Cluster) Publish(t testing.TB, operators ...*Operator) {
	t.Helper()
	c.PublishAt(t, names.WebhookService, "https", operators...)
}

// PublishAt does the same for a port of another Service.
func (c *Cluster) PublishAt(t testing.TB, service, port string, operators ...*Operator) {
	t.Helper()
	old := &discoveryv1.EndpointSlice{}
	err := c.DeleteAllOf(t.Context(), old, client.InNamespace(names.OperatorNamespace),
		client.MatchingLabels{discoveryv1.LabelServiceName: service})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range operators {
		slice := &discoveryv1.EndpointSlice{
			ObjectMeta: metav1.ObjectMeta{
				Namespace: names.OperatorNamespace, GenerateName: service + "-",
				Labels: map[string]string{discoveryv1.LabelServiceName: service},
			},
			AddressType: discoveryv1.AddressTypeIPv4,
			Endpoints: []discoveryv1.Endpoint{{
				Addresses:  []string{c.Address},
				Conditions: discoveryv1.EndpointConditions{Ready: new(true)},
			}},
			Ports: []discoveryv1.EndpointPort{{
				Name: new(port), Port: new(int32(o.Port)),
				Protocol: new(corev1.ProtocolTCP),
			}},
		}
		if err := c.Create(t.Context(), slice); err != nil {
			t.Fatal(err)
		}
	}
}
