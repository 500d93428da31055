// Package v1alpha1 holds the types of LlamaStackDistribution in version v1alpha1. Users have stacks in this version,
// and every such stack keeps working. Package convert converts these stacks to v1alpha2, the hub, and back without
// loss.
//
// No validation rule is stricter than in earlier releases, so that stored objects remain valid. The fields that
// v1alpha1 later adopted from v1alpha2 (providers, resources, disabled, state storage, external providers) have the
// types of v1alpha2.
//
// Both versions show the same facts in the status. Conditions and fields that only v1alpha1 has are not stored. The
// conversion derives them.
//
// +kubebuilder:object:generate=true
// +groupName=llamastack.io
package v1alpha1
