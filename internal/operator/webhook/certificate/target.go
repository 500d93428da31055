package certificate

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	admissionv1 "k8s.io/api/admissionregistration/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions,resourceNames=llamastackdistributions.llamastack.io,verbs=get;list;watch;patch
// +kubebuilder:rbac:groups=apiextensions.k8s.io,resources=customresourcedefinitions/status,resourceNames=llamastackdistributions.llamastack.io,verbs=patch
// +kubebuilder:rbac:groups=admissionregistration.k8s.io,resources=validatingwebhookconfigurations,resourceNames=llama-stack-k8s-operator-validating-webhook-configuration,verbs=get;list;watch;patch

// conversion is the name for the only webhook of a definition.
const conversion = "conversion"

// definitionTarget returns the target for the conversion webhook in the CustomResourceDefinition.
func definitionTarget(c clients, options Options) *target {
	definitions := c.definitions.CustomResourceDefinitions()
	return &target{
		kind: "CustomResourceDefinition", name: names.CustomResourceDefinition,
		resource: apiextensionsv1.SchemeGroupVersion.WithResource("customresourcedefinitions"),
		get: func(ctx context.Context) (webhooks, error) {
			definition, err := definitions.Get(ctx, names.CustomResourceDefinition, metav1.GetOptions{})
			if err != nil {
				return webhooks{}, err
			}
			return conversionWebhook(definition, options), nil
		},
		patch: func(ctx context.Context, found webhooks, bundle []byte) error {
			patch, err := patchOf(found, map[string]any{
				"conversion": map[string]any{"webhook": map[string]any{"clientConfig": map[string]any{"caBundle": bundle}}},
			}, "spec")
			if err == nil {
				_, err = definitions.Patch(ctx, names.CustomResourceDefinition, types.MergePatchType, patch, patchOptions())
			}
			return err
		},
		tell: tellDefinition(c),
	}
}

// conversionWebhook returns the webhook of the definition, if it calls the operator's Service.
func conversionWebhook(definition *apiextensionsv1.CustomResourceDefinition, options Options) webhooks {
	found := webhooks{
		ObjectMeta: definition.ObjectMeta, bundles: map[string][]byte{}, conditions: definition.Status.Conditions,
	}
	of := definition.Spec.Conversion
	if of == nil || of.Strategy != apiextensionsv1.WebhookConverter || of.Webhook == nil ||
		of.Webhook.ClientConfig == nil {
		return found
	}
	if service := of.Webhook.ClientConfig.Service; service != nil && service.Namespace == options.Namespace &&
		service.Name == options.Service {
		found.bundles[conversion] = of.Webhook.ClientConfig.CABundle
	}
	return found
}

// validatingTarget returns the target for the ValidatingWebhookConfiguration.
func validatingTarget(c clients, options Options) *target {
	configurations := c.admission.ValidatingWebhookConfigurations()
	return &target{
		kind: "ValidatingWebhookConfiguration", name: names.ValidatingWebhookConfiguration,
		resource: admissionv1.SchemeGroupVersion.WithResource("validatingwebhookconfigurations"),
		get: func(ctx context.Context) (webhooks, error) {
			configuration, err := configurations.Get(ctx, names.ValidatingWebhookConfiguration, metav1.GetOptions{})
			if err != nil {
				return webhooks{}, err
			}
			return validatingWebhooks(configuration, options), nil
		},
		patch: func(ctx context.Context, found webhooks, bundle []byte) error {
			var items []any
			for _, name := range slices.Sorted(maps.Keys(found.bundles)) {
				items = append(items, map[string]any{"name": name, "clientConfig": map[string]any{"caBundle": bundle}})
			}
			patch, err := patchOf(found, items, "webhooks")
			if err == nil {
				_, err = configurations.Patch(ctx, names.ValidatingWebhookConfiguration, types.StrategicMergePatchType, patch,
					patchOptions())
			}
			return err
		},
	}
}

// validatingWebhooks returns the webhooks of the configuration that call the operator's Service.
func validatingWebhooks(configuration *admissionv1.ValidatingWebhookConfiguration, options Options) webhooks {
	found := webhooks{ObjectMeta: configuration.ObjectMeta, bundles: map[string][]byte{}}
	for i := range configuration.Webhooks {
		config := &configuration.Webhooks[i].ClientConfig
		if config.Service != nil && config.Service.Namespace == options.Namespace &&
			config.Service.Name == options.Service {
			found.bundles[configuration.Webhooks[i].Name] = config.CABundle
		}
	}
	return found
}

// patchOf returns a patch for one field. The patch fails if the object has changed since it was read.
func patchOf(found webhooks, value any, field string) ([]byte, error) {
	patch, err := json.Marshal(map[string]any{
		"metadata": map[string]any{"resourceVersion": found.ResourceVersion}, field: value,
	})
	if err != nil {
		return nil, fmt.Errorf("encode a patch: %w", err)
	}
	return patch, nil
}
