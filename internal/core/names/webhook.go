package names

// These values describe the operator's webhooks and are the same as in the manifests. The API server reaches the
// webhooks through the Service.
const (
	// WebhookService is the Service of the webhooks, in the operator's namespace.
	WebhookService = "llama-stack-k8s-operator-webhook"
	// WebhookServicePort is the port of that Service.
	WebhookServicePort = 443
	// ConversionPath is the path of the conversion webhook.
	ConversionPath = "/convert"
	// ValidationPath is the path of the validating webhook.
	ValidationPath = "/validate"
)
