package testutil

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/util/yaml"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

const (
	// installer is the field manager of Install.
	installer = "testutil"
	// settle is the time limit for Install, WaitForDefinition and Eventually.
	settle = 30 * time.Second
)

// Manifests returns the files that contain the CustomResourceDefinition and the policy, in the order in which Install
// applies them.
func Manifests() ([]string, error) {
	var files []string
	for _, pattern := range []string{"config/crd/bases/*.yaml", "config/policy/validating*.yaml"} {
		found, err := filepath.Glob(filepath.Join(Root(), pattern))
		if err != nil {
			return nil, fmt.Errorf("list %s: %w", pattern, err)
		}
		slices.Sort(found)
		files = append(files, found...)
	}
	return files, nil
}

// Install applies the CustomResourceDefinition and the policy with server-side apply, and waits until the API server
// uses both.
func (p *ControlPlane) Install() error {
	files, err := Manifests()
	if err != nil {
		return err
	}
	c, err := client.New(p.Config, client.Options{})
	if err != nil {
		return fmt.Errorf("create a client: %w", err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), settle)
	defer cancel()
	var policies bool
	for _, file := range files {
		objects, err := ReadObjects(file)
		if err != nil {
			return err
		}
		for _, object := range objects {
			if err := apply(ctx, c, object); err != nil {
				return err
			}
			policies = policies || object.GetKind() == "ValidatingAdmissionPolicyBinding"
		}
	}
	if err := waitForDefinition(ctx, p.Config); err != nil || !policies {
		return err
	}
	return waitForPolicy(ctx, p.Config)
}

// WaitForDefinition waits until the API server serves the kind, for a test that installs the definition itself.
func (p *ControlPlane) WaitForDefinition() error {
	ctx, cancel := context.WithTimeout(context.Background(), settle)
	defer cancel()
	return waitForDefinition(ctx, p.Config)
}

// ReadObjects reads every object in a YAML file.
func ReadObjects(file string) ([]*unstructured.Unstructured, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("read manifest: %w", err)
	}
	objects, err := Objects(data)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", file, err)
	}
	return objects, nil
}

// Objects returns every object in a manifest.
func Objects(data []byte) ([]*unstructured.Unstructured, error) {
	var objects []*unstructured.Unstructured
	decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(data), len(data))
	for {
		object := &unstructured.Unstructured{}
		if err := decoder.Decode(&object.Object); err != nil {
			if errors.Is(err, io.EOF) {
				return objects, nil
			}
			return nil, fmt.Errorf("decode object %d: %w", len(objects)+1, err)
		}
		if len(object.Object) > 0 {
			objects = append(objects, object)
		}
	}
}

func apply(ctx context.Context, c client.Client, object *unstructured.Unstructured) error {
	err := c.Apply(ctx, client.ApplyConfigurationFromUnstructured(object), client.FieldOwner(installer),
		client.ForceOwnership)
	if err != nil {
		return fmt.Errorf("apply %s %s: %w", object.GetKind(), object.GetName(), err)
	}
	return nil
}

func waitForDefinition(ctx context.Context, config *rest.Config) error {
	c, err := newClient(config)
	if err != nil {
		return err
	}
	key := client.ObjectKey{Name: "llamastackdistributions." + v1alpha2.GroupVersion.Group}
	err = wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		var definition apiextensionsv1.CustomResourceDefinition
		if err := c.Get(ctx, key, &definition); err != nil {
			return false, client.IgnoreNotFound(err)
		}
		return slices.ContainsFunc(definition.Status.Conditions,
			func(c apiextensionsv1.CustomResourceDefinitionCondition) bool {
				return c.Type == apiextensionsv1.Established && c.Status == apiextensionsv1.ConditionTrue
			}), nil
	})
	if err != nil {
		return fmt.Errorf("wait for the definition to be established: %w", err)
	}
	return waitForPath(ctx, c)
}

// waitForPath waits until the API server serves the kind, which takes a moment after the definition is established.
func waitForPath(ctx context.Context, c client.Client) error {
	err := wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		err := c.Create(ctx, probe("ready-to-serve", "starter"), client.DryRunAll)
		// The client has its own list of kinds. Its error for an unknown kind also means that the kind is not served
		// yet.
		if apierrors.IsNotFound(err) || meta.IsNoMatchError(err) {
			return false, nil
		}
		return true, err
	})
	if err != nil {
		return fmt.Errorf("wait for the kind to be served: %w", err)
	}
	return nil
}

// waitForPolicy waits until the API server rejects a name that only the policy rejects.
func waitForPolicy(ctx context.Context, config *rest.Config) error {
	c, err := newClient(config)
	if err != nil {
		return err
	}
	err = wait.PollUntilContextCancel(ctx, 20*time.Millisecond, true, func(ctx context.Context) (bool, error) {
		err := c.Create(ctx, probe("not.a.label", "starter"), client.DryRunAll)
		if apierrors.IsInvalid(err) {
			return true, nil
		}
		return false, err
	})
	if err != nil {
		return fmt.Errorf("wait for the policy to take effect: %w", err)
	}
	return nil
}

func probe(name, distribution string) *v1alpha2.LlamaStackDistribution {
	stack := &v1alpha2.LlamaStackDistribution{}
	stack.Name, stack.Namespace = name, "default"
	stack.Spec.Distribution.Name = distribution
	return stack
}

// InstallRights creates the operator's namespace and applies the shipped RBAC.
func (p *ControlPlane) InstallRights() error {
	admin, err := p.Client()
	if err != nil {
		return err
	}
	namespace := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: names.OperatorNamespace}}
	if err := admin.Create(context.Background(), namespace); err != nil {
		return fmt.Errorf("create namespace %q: %w", namespace.Name, err)
	}
	files, err := filepath.Glob(filepath.Join(Root(), "config", "rbac", "*.yaml"))
	if err != nil {
		return fmt.Errorf("list the shipped RBAC manifests: %w", err)
	}
	for _, file := range files {
		if filepath.Base(file) == "kustomization.yaml" {
			continue
		}
		objects, err := ReadObjects(file)
		if err != nil {
			return err
		}
		for _, object := range objects {
			if err := admin.Create(context.Background(), object); err != nil {
				return fmt.Errorf("create %s %s: %w", object.GetKind(), object.GetName(), err)
			}
		}
	}
	return nil
}

// As returns the configuration of a client that acts as a ServiceAccount in the operator's namespace, such as the
// shipped one. The account has the same permissions as in a cluster.
func (p *ControlPlane) As(account string) *rest.Config {
	config := rest.CopyConfig(p.Config)
	config.Impersonate = rest.ImpersonationConfig{
		UserName: "system:serviceaccount:" + names.OperatorNamespace + ":" + account,
		Groups: []string{
			"system:serviceaccounts", "system:serviceaccounts:" + names.OperatorNamespace,
			"system:authenticated",
		},
	}
	return config
}
