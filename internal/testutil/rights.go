package testutil

import (
	"context"
	"fmt"
	"path/filepath"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

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
