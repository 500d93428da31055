package resolve

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// NamespaceLabels reads the labels of a namespace. They are not cached, because an operator that is limited to some
// namespaces cannot watch namespaces, and because only few bounds depend on labels.
func NamespaceLabels(ctx context.Context, direct client.Reader, name string) (map[string]string, error) {
	namespace := &metav1.PartialObjectMetadata{}
	namespace.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
	if err := direct.Get(ctx, client.ObjectKey{Name: name}, namespace); err != nil {
		return nil, fmt.Errorf("read the labels of namespace %q, on which its bounds depend: %w", name, err)
	}
	return namespace.Labels, nil
}
