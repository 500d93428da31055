// Package v1alpha2 holds the types of LlamaStackDistribution in version v1alpha2, the hub and storage version of the
// group llamastack.io. Package intent strictly decodes the polymorphic fields. Package validate checks the rules that
// CEL cannot express.
//
// Three rules apply to every type in this package:
//
//   - The types keep the form that a user wrote (one provider or a list, a string or an object), so that a round trip
//     changes nothing.
//   - Decoding never fails for an object that an API server may have stored, because one invalid object must not stop
//     a watch of all objects. Validation reports the error, with its field path.
//   - The schema has only the defaults `workload: {}` and `workload.replicas: 1`. Any other default would appear in the
//     object when it is read in another version.
//
// +kubebuilder:object:generate=true
// +groupName=llamastack.io
package v1alpha2
