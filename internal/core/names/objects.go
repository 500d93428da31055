package names

import (
	"slices"
	"strings"
)

// HashLength is the number of hex digits of a content hash in the name of an object.
const HashLength = 8

// Deployment returns the name of the server's Deployment.
func Deployment(stack string) string { return stack }

// Service returns the name of the server's Service.
func Service(stack string) string { return stack + "-service" }

// ServiceAccount returns the name of the ServiceAccount that the operator creates for the pods.
func ServiceAccount(stack string) string { return stack + "-sa" }

// PersistentVolumeClaim returns the name of the claim for the server's data.
func PersistentVolumeClaim(stack string) string { return stack + "-pvc" }

// PodDisruptionBudget returns the name of the pods' PodDisruptionBudget.
func PodDisruptionBudget(stack string) string { return stack + "-pdb" }

// HorizontalPodAutoscaler returns the name of the pods' HorizontalPodAutoscaler.
func HorizontalPodAutoscaler(stack string) string { return stack + "-hpa" }

// NetworkPolicy returns the name of the NetworkPolicy for connections to the pods.
func NetworkPolicy(stack string) string { return stack + "-network-policy" }

// Ingress returns the name of the Ingress that exposes the server.
func Ingress(stack string) string { return stack + "-ingress" }

// Route returns the name of the OpenShift Route that exposes the server.
func Route(stack string) string { return stack + "-route" }

// HTTPRoute returns the name of the Gateway API HTTPRoute that exposes the server.
func HTTPRoute(stack string) string { return stack + "-httproute" }

// BackendTLSPolicy returns the name of the Gateway API BackendTLSPolicy that makes a Gateway connect to the server over
// HTTPS.
func BackendTLSPolicy(stack string) string { return stack + "-backendtlspolicy" }

// ServerCA returns the name of the ConfigMap with the authorities that signed the server's certificate. A Gateway uses
// the ConfigMap to verify the certificate.
func ServerCA(stack string) string { return stack + "-server-ca" }

// CABundle returns the name of the ConfigMap with the certificate authorities that the server trusts.
func CABundle(stack string) string { return stack + "-ca-bundle" }

// Startup returns the name of the ConfigMap with the programs that run before the server starts.
func Startup(stack string) string { return stack + "-startup" }

// TrustedCABundle is the name of the ConfigMap that OpenShift AI and Open Data Hub create in users' namespaces. It
// contains certificate authorities.
const TrustedCABundle = "odh-trusted-ca-bundle"

// ConfigMap returns the name of the ConfigMap with the given hash of its content (FR-024).
func ConfigMap(stack, hash string) string {
	return stack + "-config-" + prefix(hash)
}

// BaseConfigMap returns the name of the ConfigMap that stores the base of a generated configuration, if the two do not
// fit into one ConfigMap.
func BaseConfigMap(stack, hash string) string {
	return stack + "-base-" + prefix(hash)
}

// StorageSecret returns the name of the Secret that contains derived connection parts, as long as the parts are
// unknown. The operator derives these parts, such as the host of a database, from the values of other Secrets.
func StorageSecret(stack string) string { return stack + "-storage" }

// StorageSecretOf returns the name of the Secret for derived connection parts with this keyed digest. Other parts have
// a Secret of their own, so that running pods continue to read the parts with which they started.
func StorageSecretOf(stack, digest string) string {
	return StorageSecret(stack) + "-" + prefix(digest)
}

// IsStorageSecret reports whether a name is that of a Secret with the stack's derived connection parts.
func IsStorageSecret(stack, name string) bool {
	rest, found := strings.CutPrefix(name, StorageSecret(stack))
	return found && (rest == "" || rest[0] == '-' && len(rest) == 1+HashLength)
}

// Preflight returns the name of a pod in which a change is tested, and of the objects created for that pod. The
// parameter `hash` is the hash of the pod's template.
func Preflight(stack, hash string) string {
	return PreflightPrefix(stack) + prefix(hash)
}

// PreflightPrefix returns the name prefix of a stack's preflight pods.
func PreflightPrefix(stack string) string { return stack + "-preflight-" }

// IsChild reports whether a name is that of an object of which a stack has at most one. The names of ConfigMaps,
// Secrets and preflights contain a hash, so IsChild returns false for them.
func IsChild(stack, name string) bool {
	return stack != "" && slices.Contains([]string{
		Deployment(stack), Service(stack), ServiceAccount(stack), PersistentVolumeClaim(stack), PodDisruptionBudget(stack),
		HorizontalPodAutoscaler(stack), NetworkPolicy(stack), Ingress(stack), Route(stack), HTTPRoute(stack),
		BackendTLSPolicy(stack),
	}, name)
}

// DigestKeySecret is the Secret in the operator's namespace with the key for digests of secret values.
const DigestKeySecret = "llama-stack-operator-digest-key"

const (
	// WebhookCertificateSecret is the Secret in the operator's namespace with the certificates of its webhooks.
	WebhookCertificateSecret = "llama-stack-k8s-operator-webhook-cert"
	// ValidatingWebhookConfiguration is the name of the object that makes the API server send each write of a stack to
	// the operator for validation.
	ValidatingWebhookConfiguration = "llama-stack-k8s-operator-validating-webhook-configuration"
	// CustomResourceDefinition is the name of the CustomResourceDefinition of LlamaStackDistribution.
	CustomResourceDefinition = "llamastackdistributions.llamastack.io"
)

// OperatorConfigMap is the ConfigMap in the operator's namespace that configures the operator.
const OperatorConfigMap = "llama-stack-operator-config"

// prefix returns the part of a hash that is in the name of an object.
func prefix(hash string) string { return hash[:min(len(hash), HashLength)] }
