package certificate

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// webhooks is the part of a CustomResourceDefinition or a ValidatingWebhookConfiguration that the operator reads. A
// definition has at most one webhook, for conversion. Both kinds write a client configuration in the same way.
type webhooks struct {
	metav1.ObjectMeta `json:"metadata"`

	Spec struct {
		Conversion apiextensionsv1.CustomResourceConversion `json:"conversion"`
	} `json:"spec"`
	Status     apiextensionsv1.CustomResourceDefinitionStatus `json:"status"`
	Validating []struct {
		ClientConfig apiextensionsv1.WebhookClientConfig `json:"clientConfig"`
	} `json:"webhooks"`
}

// read returns the object's webhooks. If the object does not exist, it has none.
func (t *target) read(ctx context.Context) (*webhooks, error) {
	found := &webhooks{}
	object, err := t.objects.Get(ctx, t.name, metav1.GetOptions{})
	if err == nil {
		t.report.regards = corev1.ObjectReference{
			APIVersion: object.GetAPIVersion(), Kind: object.GetKind(), Name: object.GetName(), UID: object.GetUID(),
		}
		err = runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, found)
	}
	return found, client.IgnoreNotFound(err)
}

// bundles returns the bundles of the webhooks that call a Service, keyed by the bundles' JSON pointers.
func (w *webhooks) bundles(service types.NamespacedName) map[string][]byte {
	configs := map[string]*apiextensionsv1.WebhookClientConfig{}
	if conversion := w.Spec.Conversion.Webhook; conversion != nil {
		configs["/spec/conversion/webhook/clientConfig"] = conversion.ClientConfig
	}
	for i := range w.Validating {
		configs[fmt.Sprintf("/webhooks/%d/clientConfig", i)] = &w.Validating[i].ClientConfig
	}
	found := map[string][]byte{}
	for at, config := range configs {
		if config != nil && config.Service != nil && config.Service.Namespace == service.Namespace &&
			config.Service.Name == service.Name {
			found[at+"/caBundle"] = config.CABundle
		}
	}
	return found
}

// patch writes the bundle, unless the object has changed since it was read.
func (t *target) patch(ctx context.Context, found *webhooks, bundle []byte) error {
	changes := []map[string]any{{"op": "replace", "path": "/metadata/resourceVersion", "value": found.ResourceVersion}}
	for at := range found.bundles(t.service) {
		changes = append(changes, map[string]any{"op": "add", "path": at, "value": bundle})
	}
	patch, err := json.Marshal(changes)
	if err != nil {
		return fmt.Errorf("encode a patch: %w", err)
	}
	_, err = t.objects.Patch(ctx, t.name, types.JSONPatchType, patch,
		metav1.PatchOptions{FieldManager: names.FieldManager})
	return err
}
