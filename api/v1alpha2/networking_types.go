package v1alpha2

// DefaultPort is the port that the server listens on if networking.port is unset (FR-060).
const DefaultPort int32 = 8321

// NetworkingSpec configures how clients reach the server (FR-010).
type NetworkingSpec struct {
	// port is the port that the server and its Service listen on. Defaults to 8321. The server rejects ports below
	// 1024.
	// +kubebuilder:validation:Minimum=1024
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port int32 `json:"port,omitempty"`

	// tls enables HTTPS in the server, and adds certificates that the server trusts in outgoing calls.
	// +optional
	TLS *TLSSpec `json:"tls,omitempty"`

	// expose exposes the server outside the cluster. The value is a boolean, or an object such as {hostname:
	// llama.example.com}, with any of enabled, hostname, ingressClassName, annotations and tlsSecretName. {} means true.
	// If unset, the server is not exposed.
	// +optional
	Expose *Expose `json:"expose,omitempty"`

	// allowedFrom uses a NetworkPolicy to restrict which namespaces can connect to the server. If unset, there is no
	// NetworkPolicy unless the operator's configuration requires one.
	// +optional
	AllowedFrom *AllowedFromSpec `json:"allowedFrom,omitempty"`
}

// TLSSpec configures TLS for the server (FR-061) and the certificates that the server trusts (FR-063).
//
// +kubebuilder:validation:XValidation:rule=`!has(self.enabled) || !self.enabled || has(self.secretName)`,message=`required when tls is enabled: set the name of a Secret of type kubernetes.io/tls`,fieldPath=`.secretName`,reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`!has(self.secretName) || (has(self.enabled) && self.enabled)`,message=`secretName has no effect while tls is not enabled: set enabled: true or remove secretName`,messageExpression=`'"' + self.secretName + '" has no effect while tls is not enabled: set enabled: true or remove secretName'`,fieldPath=`.secretName`,reason=FieldValueForbidden
type TLSSpec struct {
	// enabled makes the server use HTTPS with the certificate in secretName. Defaults to false.
	// +optional
	Enabled bool `json:"enabled,omitempty"`

	// secretName is the name of a Secret of type kubernetes.io/tls (FR-062). It is required if enabled is true, and
	// must be unset otherwise.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')`,messageExpression=`'"' + self + '" is not a valid Secret name: use at most 253 lowercase letters, digits, "-" and ".", begin and end with a letter or digit, and put a letter or digit on each side of every "."'`
	// +optional
	SecretName string `json:"secretName,omitempty"`

	// caBundle adds certificates that the server trusts in outgoing calls. It applies even if enabled is false.
	// +optional
	CABundle *CABundleSpec `json:"caBundle,omitempty"`
}

// CABundleSpec selects a ConfigMap with PEM certificates.
type CABundleSpec struct {
	// configMapName is the name of a ConfigMap in the object's namespace. Required.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')`,messageExpression=`'"' + self + '" is not a valid name for a ConfigMap: use at most 253 lowercase letters, digits, "-" and ".", begin and end with a letter or digit, and put a letter or digit on each side of every "."'`
	// +required
	ConfigMapName string `json:"configMapName"`

	// configMapKeys lists the keys to read, at most 50. Defaults to ca-bundle.crt.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:XValidation:rule=`self.matches('^[-._a-zA-Z0-9]+$')`,messageExpression=`'"' + self + '" is not a valid key of a ConfigMap: use at most 253 letters, digits, "-", "_" and "."'`
	// +optional
	ConfigMapKeys []string `json:"configMapKeys,omitempty"`
}

// DefaultCABundleKey is the key of the ConfigMap if caBundle.configMapKeys is unset.
const DefaultCABundleKey = "ca-bundle.crt"

// Expose is a boolean or an ExposeSpec (FR-011), stored as the JSON that the user wrote.
//
// +kubebuilder:validation:Type=""
// +kubebuilder:pruning:PreserveUnknownFields
type Expose struct {
	// Raw is the JSON: a boolean or an object.
	Raw []byte `json:"-"`
}

// ExposeSpec is the object form of expose (FR-064, FR-065).
type ExposeSpec struct {
	// enabled makes the server reachable from outside the cluster. Defaults to true.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// hostname is the host name of the Ingress, Route or HTTPRoute. Defaults to <name>-<namespace>-<hash>.<the operator's
	// domain>, or, if the operator has no domain, to a name that OpenShift generates for a Route.
	// +optional
	Hostname string `json:"hostname,omitempty"`
	// ingressClassName is the class of the Ingress. Defaults to the class in the operator's configuration, or, if the
	// operator's configuration sets no class, to the cluster's default class.
	// +optional
	IngressClassName string `json:"ingressClassName,omitempty"`
	// annotations are added to the Ingress, Route or HTTPRoute.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
	// tlsSecretName is the name of a Secret of type kubernetes.io/tls with the certificate for the Ingress, or for the
	// Route if the server does not use HTTPS.
	// +optional
	TLSSecretName string `json:"tlsSecretName,omitempty"`
}

// AllowedFromSpec lists the namespaces that can connect to the server (FR-066), in addition to the namespaces of the
// stack and the operator.
type AllowedFromSpec struct {
	// namespaces lists namespaces by name. "*" means every namespace.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:XValidation:rule=`self == '*' || self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')`,messageExpression=`'"' + self + '" is not a valid namespace name: use at most 63 lowercase letters, digits and "-", and begin and end with a letter or digit, or use the value "*" for every namespace'`
	// +optional
	Namespaces []string `json:"namespaces,omitempty"`

	// labels lists labels. Every namespace that has one of these labels can connect. An entry is a label key or key=value.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=381
	// +kubebuilder:validation:items:XValidation:rule=`self.matches('^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?(=([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?)?$')`,messageExpression=`'"' + self + '" is not a label: write a key such as llama-access, or a key and its value such as team=ml'`
	// +optional
	Labels []string `json:"labels,omitempty"`
}
