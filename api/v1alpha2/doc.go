// Package v1alpha2 holds the types of LlamaStackDistribution, version v1alpha2:
// the hub and storage version of the group llamastack.io. Types only: strict
// decoding of the polymorphic fields is package intent's, rules that CEL cannot
// see are package validate's.
//
// Three rules shape every type here. What a user wrote is kept as it was
// written (one provider or a list, a string or an object), so that a round trip
// changes nothing. Decoding never fails on anything an API server can have
// stored, because one odd object must not stop a watch over all of them; what
// is wrong with it is said by validation, with its field path. And the schema
// defaults nothing but `workload: {}` and `workload.replicas: 1`: any other
// default would appear in the object when it is read as another version.
//
// +kubebuilder:object:generate=true
// +groupName=llamastack.io
package v1alpha2
