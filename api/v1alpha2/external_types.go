package v1alpha2

import (
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
)

// ExternalProvider is a provider that comes in a container image of its own
// (FR-014, FR-090 to FR-092).
type ExternalProvider struct {
	// providerId is the provider's id in the server. Required.
	// +required
	ProviderID string `json:"providerId"`

	// image holds the provider's package. Required.
	// +required
	Image string `json:"image"`

	// imagePullPolicy of that image. Unset: Kubernetes' default.
	// +kubebuilder:validation:Enum=Always;IfNotPresent;Never
	// +optional
	ImagePullPolicy corev1.PullPolicy `json:"imagePullPolicy,omitempty"`

	// config of the provider, as it is.
	// +optional
	Config *apiextensionsv1.JSON `json:"config,omitempty"`

	// secretRefs sets configuration keys of the provider from Secrets.
	// +optional
	SecretRefs map[string]SecretReference `json:"secretRefs,omitempty"`
}
