// Package v1alpha1 holds the types of LlamaStackDistribution, version v1alpha1:
// the version of the stacks in use today. Every object written in it keeps
// working; package convert turns it into v1alpha2, the hub, and back, and loses
// nothing either way. Types only.
//
// No rule here is stricter than it ever was, so that whatever is stored stays
// valid. What v1alpha1 took from v1alpha2 later (providers, resources, state
// storage, external providers) is of v1alpha2's types.
//
// Both versions show the same facts in the status. Conditions and fields that
// only v1alpha1 has are not stored: the conversion derives them.
//
// +kubebuilder:object:generate=true
// +groupName=llamastack.io
package v1alpha1
