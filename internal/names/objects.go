package names

import "strings"

// HashLength is how many hex digits of a content hash a ConfigMap's name
// carries; LongHashLength is used when a foreign object has that name already.
const (
	HashLength     = 8
	LongHashLength = 16
)

// Deployment is the name of the server's Deployment.
func Deployment(stack string) string { return stack }

// Service is the name of the server's Service.
func Service(stack string) string { return stack + "-service" }

// ServiceAccount is the name of the ServiceAccount made for the pods.
func ServiceAccount(stack string) string { return stack + "-sa" }

// PersistentVolumeClaim is the name of the claim for the server's data.
func PersistentVolumeClaim(stack string) string { return stack + "-pvc" }

// PodDisruptionBudget is the name of the budget of the pods.
func PodDisruptionBudget(stack string) string { return stack + "-pdb" }

// HorizontalPodAutoscaler is the name of what scales the pods.
func HorizontalPodAutoscaler(stack string) string { return stack + "-hpa" }

// NetworkPolicy is the name of what says who may connect.
func NetworkPolicy(stack string) string { return stack + "-network-policy" }

// Ingress is the name of the Ingress that exposes the server.
func Ingress(stack string) string { return stack + "-ingress" }

// Route is the name of OpenShift's Route.
func Route(stack string) string { return stack + "-route" }

// HTTPRoute is the name of the Gateway API's HTTPRoute.
func HTTPRoute(stack string) string { return stack + "-httproute" }

// BackendTLSPolicy is the name of the Gateway API's policy that tells a Gateway
// to speak HTTPS to the server.
func BackendTLSPolicy(stack string) string { return stack + "-backendtlspolicy" }

// ServerCA is the name of the ConfigMap with the authorities that signed the
// server's certificate, which a Gateway checks it by.
func ServerCA(stack string) string { return stack + "-server-ca" }

// CABundle is the name of the ConfigMap with what the server trusts.
func CABundle(stack string) string { return stack + "-ca-bundle" }

// Startup is the name of the ConfigMap with what runs before the server starts.
func Startup(stack string) string { return stack + "-startup" }

// TrustedCABundle is the ConfigMap that a platform puts into its users'
// namespaces.
const TrustedCABundle = "odh-trusted-ca-bundle"

// ConfigMap is the name of the generated configuration with the given content
// hash (FR-024).
func ConfigMap(stack, hash string) string {
	return stack + "-config-" + prefix(hash, HashLength)
}

// LongConfigMap is ConfigMap for the case that its name is taken by other
// content.
func LongConfigMap(stack, hash string) string {
	return stack + "-config-" + prefix(hash, LongHashLength)
}

// BaseConfigMap is the name of the ConfigMap that keeps the base configuration
// a generated one was made from.
func BaseConfigMap(stack, hash string) string {
	return stack + "-base-" + prefix(hash, HashLength)
}

// StorageSecret is the name of the Secret with derived connection parts.
func StorageSecret(stack string) string { return stack + "-storage" }

// NextStorageSecret is that name once the parts are others; digest is theirs, by
// a key. Pods that run go on reading the Secret that they started with.
func NextStorageSecret(stack, digest string) string {
	return StorageSecret(stack) + "-" + prefix(digest, HashLength)
}

// IsStorageSecret reports whether it is the name of a Secret with the stack's
// derived connection parts.
func IsStorageSecret(stack, name string) bool {
	rest, found := strings.CutPrefix(name, StorageSecret(stack))
	return found && (rest == "" || rest[0] == '-' && len(rest) == 1+HashLength)
}

// Preflight is the name of the pod in which a change is tried, and of what is made
// for it; hash is that of its template.
func Preflight(stack, hash string) string {
	return PreflightPrefix(stack) + prefix(hash, HashLength)
}

// PreflightPrefix begins the names of a stack's preflights.
func PreflightPrefix(stack string) string { return stack + "-preflight-" }

// DigestKeySecret is the Secret in the operator's namespace with the key of
// digests over secret values.
const DigestKeySecret = "llama-stack-operator-digest-key"

const (
	// WebhookCertificateSecret is the Secret in the operator's namespace with the
	// certificates by which the API server calls the operator.
	WebhookCertificateSecret = "llama-stack-k8s-operator-webhook-cert"
	// ValidatingWebhookConfiguration tells the API server which writes to ask the
	// operator about.
	ValidatingWebhookConfiguration = "llama-stack-k8s-operator-validating-webhook-configuration"
	// CustomResourceDefinition is the definition of the kind.
	CustomResourceDefinition = "llamastackdistributions.llamastack.io"
)

// OperatorConfigMap is the ConfigMap in the operator's namespace that configures
// the operator.
const OperatorConfigMap = "llama-stack-operator-config"

func prefix(s string, n int) string {
	if len(s) < n {
		return s
	}
	return s[:n]
}
