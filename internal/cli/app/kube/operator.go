package kube

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// OperatorLabels are on the operator's Deployment, in the manifests and in the chart.
var OperatorLabels = client.MatchingLabels{"app.kubernetes.io/name": "llama-stack-k8s-operator"}

// WebhookNamespace returns the namespace of the Service in the conversion webhook of a definition, or "".
func WebhookNamespace(definition *apiextensionsv1.CustomResourceDefinition) string {
	if definition == nil || definition.Spec.Conversion == nil || definition.Spec.Conversion.Webhook == nil {
		return ""
	}
	if of := definition.Spec.Conversion.Webhook.ClientConfig; of != nil && of.Service != nil {
		return of.Service.Namespace
	}
	return ""
}
