// Package v1alpha1 holds the types of LlamaStackDistribution, version v1alpha1:
// the version of the stacks in use today. Every object written in it keeps
// working; package convert turns it into v1alpha2, the hub, and back, and loses
// nothing either way. Types only.
//
// No rule here is stricter than it ever was, so that whatever is stored stays
// valid. What v1alpha1 took from v1alpha2 later (providers, resources, state
// storage, external providers, and the whole status) is of v1alpha2's types:
// both versions show the same facts.
//
// +kubebuilder:object:generate=true
// +groupName=llamastack.io
package v1alpha1
