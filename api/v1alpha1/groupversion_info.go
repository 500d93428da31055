package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// Kind is the kind that this package describes.
const Kind = "LlamaStackDistribution"

var (
	// GroupVersion is llamastack.io/v1alpha1.
	GroupVersion = schema.GroupVersion{Group: "llamastack.io", Version: "v1alpha1"}

	// GroupVersionKind is LlamaStackDistribution in GroupVersion.
	GroupVersionKind = GroupVersion.WithKind(Kind)

	// SchemeBuilder collects the types of this package.
	SchemeBuilder = runtime.NewSchemeBuilder(addKnownTypes)

	// AddToScheme adds the types of this package to a scheme.
	AddToScheme = SchemeBuilder.AddToScheme
)

func addKnownTypes(scheme *runtime.Scheme) error {
	scheme.AddKnownTypes(GroupVersion, &LlamaStackDistribution{}, &LlamaStackDistributionList{})
	metav1.AddToGroupVersion(scheme, GroupVersion)
	return nil
}
