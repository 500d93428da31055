package v1alpha2

// DefaultPort is the port the server listens on when networking.port is unset
// (FR-060).
const DefaultPort int32 = 8321

// NetworkingSpec says how the server is reached (FR-010).
type NetworkingSpec struct {
	// port the server and its Service listen on. Unset: 8321. The server
	// refuses ports below 1024.
	// +kubebuilder:validation:Minimum=1024
	// +kubebuilder:validation:Maximum=65535
	// +optional
	Port int32 `json:"port,omitempty"`

	// tls lets the server itself speak HTTPS, and adds trust for its outgoing
	// calls.
	// +optional
	TLS *TLSSpec `json:"tls,omitempty"`

	// expose makes the server reachable from outside the cluster: true, or an
	// object, {hostname: llama.example.com}, with any of enabled, hostname,
	// ingressClassName, annotations and tlsSecretName; {} means true. Unset: not
	// exposed.
	// +optional
	Expose *Expose `json:"expose,omitempty"`

	// allowedFrom restricts who may connect, by a NetworkPolicy. Unset: no
	// NetworkPolicy, unless the operator's configuration asks for one.
	// +optional
	AllowedFrom *AllowedFromSpec `json:"allowedFrom,omitempty"`
}

// TLSSpec is TLS of the server (FR-061) and its trust (FR-063).
//
// +kubebuilder:validation:XValidation:rule=`!has(self.enabled) || !self.enabled || has(self.secretName)`,message=`required when tls is enabled: the name of a Secret of type kubernetes.io/tls`,fieldPath=`.secretName`,reason=FieldValueRequired
// +kubebuilder:validation:XValidation:rule=`!has(self.secretName) || (has(self.enabled) && self.enabled)`,message=`secretName has no effect while tls is not enabled: set enabled: true or remove secretName`,messageExpression=`'"' + self.secretName + '" has no effect while tls is not enabled: set enabled: true or remove secretName'`,fieldPath=`.secretName`,reason=FieldValueForbidden
type TLSSpec struct {
	// enabled lets the server speak HTTPS with the certificate of secretName.
	// Unset: false.
	// +optional
	Enabled bool `json:"enabled,omitempty"`

	// secretName is a Secret of type kubernetes.io/tls (FR-062). Required when
	// enabled, only then.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')`,messageExpression=`'"' + self + '" is not a valid Secret name: use lower-case letters, digits, "-" and ".", and begin and end with a letter or digit'`
	// +optional
	SecretName string `json:"secretName,omitempty"`

	// caBundle adds certificates the server trusts in outgoing calls; allowed
	// without enabled.
	// +optional
	CABundle *CABundleSpec `json:"caBundle,omitempty"`
}

// CABundleSpec is a ConfigMap with PEM certificates.
type CABundleSpec struct {
	// configMapName is a ConfigMap in the object's namespace. Required.
	// +kubebuilder:validation:MaxLength=253
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*$')`,messageExpression=`'"' + self + '" is not a valid name for a ConfigMap: use lower-case letters, digits, "-" and ".", and begin and end with a letter or digit'`
	// +required
	ConfigMapName string `json:"configMapName"`

	// configMapKeys are the keys to read, at most 50. Unset: ca-bundle.crt.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=50
	// +kubebuilder:validation:items:MaxLength=253
	// +kubebuilder:validation:items:XValidation:rule=`self.matches('^[-._a-zA-Z0-9]+$')`,messageExpression=`'"' + self + '" is not a valid key of a ConfigMap: use letters, digits, "-", "_" and "."'`
	// +optional
	ConfigMapKeys []string `json:"configMapKeys,omitempty"`
}

// DefaultCABundleKey is the key read when caBundle.configMapKeys is unset.
const DefaultCABundleKey = "ca-bundle.crt"

// Expose is a bool or an ExposeSpec (FR-011), kept as the JSON it was written in.
//
// +kubebuilder:validation:Type=""
// +kubebuilder:pruning:PreserveUnknownFields
type Expose struct {
	// Raw is the JSON: a bool or an object.
	Raw []byte `json:"-"`
}

// ExposeSpec is the object form of expose (FR-064, FR-065).
type ExposeSpec struct {
	// enabled switches the exposure. Unset: true.
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
	// hostname of the Ingress, Route or HTTPRoute. Unset:
	// <name>-<namespace>.<the operator's domain>.
	// +optional
	Hostname string `json:"hostname,omitempty"`
	// ingressClassName of the Ingress. Unset: the operator's, else the cluster's default.
	// +optional
	IngressClassName string `json:"ingressClassName,omitempty"`
	// annotations of the Ingress, Route or HTTPRoute.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
	// tlsSecretName is a kubernetes.io/tls Secret that the Ingress serves.
	// +optional
	TLSSecretName string `json:"tlsSecretName,omitempty"`
}

// AllowedFromSpec lists who may connect to the server (FR-066), beside its own
// namespace and the operator.
type AllowedFromSpec struct {
	// namespaces by name; "*" is every namespace.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:XValidation:rule=`self == '*' || self.matches('^[a-z0-9]([-a-z0-9]*[a-z0-9])?$')`,messageExpression=`'"' + self + '" is not a valid namespace name: use lower-case letters, digits and "-", or only "*" for every namespace'`
	// +optional
	Namespaces []string `json:"namespaces,omitempty"`

	// labels of namespaces: a label key that must exist, or key=value.
	// +kubebuilder:validation:MinItems=1
	// +kubebuilder:validation:MaxItems=256
	// +kubebuilder:validation:items:MaxLength=381
	// +kubebuilder:validation:items:XValidation:rule=`self.matches('^([a-z0-9]([-a-z0-9.]*[a-z0-9])?/)?[A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?(=([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?)?$')`,messageExpression=`'"' + self + '" is neither a label key, such as llama-access, nor key=value, such as team=ml'`
	// +optional
	Labels []string `json:"labels,omitempty"`
}
