package v1alpha2

import (
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// ExternalProviders are the external providers of one API, at most 16.
//
// +kubebuilder:validation:MinItems=1
// +kubebuilder:validation:MaxItems=16
type ExternalProviders []ExternalProvider

// ExternalProvider is a provider in a separate container image (FR-014, FR-090 to FR-092).
type ExternalProvider struct {
	// providerId is the provider's ID in the server. Required.
	// +kubebuilder:validation:MaxLength=63
	// +kubebuilder:validation:XValidation:rule=`self.matches('^[A-Za-z0-9]([A-Za-z0-9_.-]*[A-Za-z0-9])?$')`,messageExpression=`'"' + self + '" is not a valid ID: use at most 63 letters, digits, "-", "_" and ".", and begin and end with a letter or digit'`
	// +required
	ProviderID string `json:"providerId"`

	// image is the container image with the provider's package. Required.
	// +kubebuilder:validation:MaxLength=512
	// +kubebuilder:validation:XValidation:rule=`self.matches('^(([a-zA-Z0-9]([-a-zA-Z0-9.]*[a-zA-Z0-9])?|[[][0-9a-fA-F:]+[]])(:[0-9]+)?/)?[a-z0-9]+([._-]+[a-z0-9]+)*(/[a-z0-9]+([._-]+[a-z0-9]+)*)*(:[a-zA-Z0-9_][a-zA-Z0-9_.-]{0,127})?(@[a-z0-9+._-]+:[0-9a-fA-F]{32,128})?$')`,messageExpression=`'"' + self + '" is not an image reference: write [registry/]repository[:tag][@digest], with the repository in lower case'`
	// +required
	Image string `json:"image"`

	// imagePullPolicy is the pull policy of the image. If unset, the Kubernetes default applies.
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	// +optional
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`

	// config is the configuration of the provider. The operator passes it to the server unchanged.
	// +kubebuilder:validation:Type=object
	// +kubebuilder:pruning:PreserveUnknownFields
	// +optional
	Config *apiextensionsv1.JSON `json:"config,omitempty"`

	// secretRefs sets configuration keys of the provider from Secrets.
	// +kubebuilder:validation:MinProperties=1
	// +kubebuilder:validation:MaxProperties=16
	// +optional
	SecretRefs map[string]SecretReference `json:"secretRefs,omitempty"`
}
