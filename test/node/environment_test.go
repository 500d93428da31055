//go:build node

package node

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strings"
	"syscall"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/tools/clientcmd"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/test/node/image"
)

const (
	// registryVariable is the environment variable with the registry address that the nodes use. pushVariable is the
	// environment variable with the registry address that this machine uses, if it is different.
	registryVariable = "CLUSTER_REGISTRY"
	pushVariable     = "CLUSTER_REGISTRY_PUSH"
	// operatorReplicas is the number of operator replicas.
	operatorReplicas = 2
	// defaultRelease is the release that the operator uses if a stack specifies only the name of a distribution.
	defaultRelease = "0.7.1"
)

// operatorDeployment is the name of the operator's Deployment in the manifest.
const operatorDeployment = names.OperatorServiceAccount

// All scenarios share this cluster and its registry.
var (
	cluster  client.Client
	registry string
)

func TestMain(m *testing.M) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code, err := run(ctx, m)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// run installs the operator, runs the tests, and uninstalls the operator.
func run(ctx context.Context, m *testing.M) (int, error) {
	if registry = os.Getenv(registryVariable); registry == "" {
		return 1, fmt.Errorf("%s is not set: `make test-node` sets it for its own node; for your own cluster, set it to a registry from which the nodes can pull", registryVariable)
	}
	if err := connect(); err != nil {
		return 1, err
	}
	err := cluster.Get(ctx, client.ObjectKey{Name: names.OperatorNamespace}, &corev1.Namespace{})
	if err == nil {
		return 1, fmt.Errorf("namespace %q exists: these tests install and remove the operator; use another cluster", names.OperatorNamespace)
	}
	if !apierrors.IsNotFound(err) {
		return 1, fmt.Errorf("look for an operator: %w", err)
	}
	if err := publish(ctx, "operator", "standin@"+defaultRelease, "standin@0.6.1"); err != nil {
		return 1, err
	}
	manifest, err := operatorManifest(ctx, testutil.Root(), operatorTag)
	if err != nil {
		return 1, err
	}
	if err := install(ctx, manifest); err != nil {
		return 1, errors.Join(err, uninstall(ctx, manifest))
	}
	code := m.Run()
	return code, uninstall(ctx, manifest)
}

func connect() error {
	config, err := clientcmd.NewNonInteractiveDeferredLoadingClientConfig(clientcmd.NewDefaultClientConfigLoadingRules(),
		nil).ClientConfig()
	if err != nil {
		return fmt.Errorf("read $KUBECONFIG: %w", err)
	}
	config.QPS = -1
	types, err := testutil.NewScheme()
	if err != nil {
		return err
	}
	if cluster, err = client.New(config, client.Options{Scheme: types}); err != nil {
		return fmt.Errorf("create a client: %w", err)
	}
	return nil
}

// pushRegistry returns the registry's address on this machine.
func pushRegistry() string { return cmp.Or(os.Getenv(pushVariable), registry) }

// publish builds images and pushes them to the registry from which the nodes pull.
func publish(ctx context.Context, wanted ...string) error {
	published, err := image.Publish(ctx, pushRegistry(), operatorTag, wanted...)
	if err != nil {
		return err
	}
	for _, name := range wanted {
		fmt.Fprintf(os.Stdout, "image %s: %.1f MB, built and pushed in %.1f s\n", name, float64(published[name].Size)/1e6, published[name].Took.Seconds())
	}
	return nil
}

func operatorImage(registry, tag string) string { return registry + "/llama-stack-k8s-operator:" + tag }

func standIn(release string) string { return registry + "/standin:" + release }

// operatorConfig returns a ConfigMap that allows the operator to read the registry, and that replaces the images in the
// catalog with the images for the test.
func operatorConfig() *unstructured.Unstructured {
	object := map[string]any{
		"apiVersion": "v1", "kind": "ConfigMap",
		"metadata": map[string]any{"name": names.OperatorConfigMap, "namespace": names.OperatorNamespace},
		"data": map[string]any{
			"registries": fmt.Sprintf("insecure: [%q]\n", registry),
			"image-overrides": fmt.Sprintf("starter: %s\nstarter@0.6: %s\n", standIn(defaultRelease), standIn("0.6.1")) +
				realImage(realRelease) + realImage(newestRelease),
		},
	}
	return &unstructured.Unstructured{Object: object}
}

// realImage returns the line in image-overrides that specifies the image of a real server.
func realImage(version string) string {
	return fmt.Sprintf("starter@%s: %s/llama-stack:%s\n", version, registry, version)
}

// operatorTag is the tag of the operator's image, and the version that the operator reports.
const operatorTag = "test"

// operatorManifest returns the manifest that users install from a work tree, with the image and the number of replicas
// for the tests, and with the ConfigMap from operatorConfig.
func operatorManifest(ctx context.Context, root, tag string) ([]byte, error) {
	plain, err := testutil.Manifest(ctx, root, "default")
	if err != nil {
		return nil, err
	}
	objects, err := testutil.Objects(plain)
	if err != nil {
		return nil, err
	}
	var manifest bytes.Buffer
	for _, object := range append(objects, operatorConfig()) {
		if object.GetKind() == "Deployment" {
			if err := adapt(object, tag); err != nil {
				return nil, err
			}
		}
		text, err := yaml.Marshal(object.Object)
		if err != nil {
			return nil, fmt.Errorf("write manifest: %w", err)
		}
		fmt.Fprintf(&manifest, "---\n%s", text)
	}
	return manifest.Bytes(), nil
}

// adapt changes the operator's Deployment for the tests. The kernel divides busy CPUs in proportion to the requests of
// the pods. Dozens of pods start on the two CPUs of a small machine, so the operator gets a higher request. With the
// shipped request, it could lose its lease.
func adapt(deployment *unstructured.Unstructured, tag string) error {
	containers, _, err := unstructured.NestedSlice(deployment.Object, "spec", "template", "spec", "containers")
	if err != nil || len(containers) != 1 {
		return fmt.Errorf("the operator's Deployment has %d containers (%w)", len(containers), err)
	}
	container, _ := containers[0].(map[string]any)
	container["image"] = operatorImage(registry, tag)
	container["imagePullPolicy"] = "Always"
	return errors.Join(
		unstructured.SetNestedField(container, "100m", "resources", "requests", "cpu"),
		unstructured.SetNestedSlice(deployment.Object, containers, "spec", "template", "spec", "containers"),
		unstructured.SetNestedField(deployment.Object, int64(operatorReplicas), "spec", "replicas"),
	)
}

// install applies the manifest as users do, and waits until the operator is available.
func install(ctx context.Context, manifest []byte) error {
	started := time.Now()
	if _, err := kubectl(ctx, manifest, "apply", "--filename=-"); err != nil {
		return err
	}
	if err := available(ctx); err != nil {
		return err
	}
	fmt.Fprintf(os.Stdout, "the operator was installed in %.1f s\n", time.Since(started).Seconds())
	return nil
}

// available waits until every replica of the operator is available.
func available(ctx context.Context) error {
	_, err := kubectl(ctx, nil, "rollout", "status", "--namespace="+names.OperatorNamespace,
		"deployment/"+operatorDeployment, "--timeout=180s")
	if err != nil {
		said, _ := kubectl(ctx, nil, "describe", "pods", "--namespace="+names.OperatorNamespace)
		return errors.Join(err, errors.New(said))
	}
	return nil
}

// uninstall removes the objects that install applied, even after an interrupt. Deleting the CustomResourceDefinition
// also deletes the remaining stacks.
func uninstall(ctx context.Context, manifest []byte) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
	defer cancel()
	_, err := kubectl(ctx, manifest, "delete", "--ignore-not-found", "--filename=-", "--timeout=110s")
	return err
}

// kubectl runs the kubectl in $PATH and returns its output.
func kubectl(ctx context.Context, input []byte, arguments ...string) (string, error) {
	command := exec.CommandContext(ctx, "kubectl", arguments...)
	command.Stdin = bytes.NewReader(input)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		return stdout.String(), fmt.Errorf("kubectl %s: %w: %s", strings.Join(arguments, " "), err,
			strings.TrimSpace(stderr.String()))
	}
	return stdout.String(), nil
}
