// Package convert converts a LlamaStackDistribution of v1alpha1 to v1alpha2, the hub, and back. It works on the JSON of
// an object and not on Go types, so that unknown fields and the spelling of numbers are kept.
//
// Conversion never fails and loses nothing (decision 0007). A table maps the fields of one version to those of the
// other. Values that the other version cannot hold are stored in an annotation. They are restored if the visible fields
// still agree with them. Because any user can write that annotation, it is ignored unless the values in it fit the
// types of their version and change no visible field.
//
// The status is stored in the form of the hub. The conditions and fields that only v1alpha1 has follow from others.
// They are derived for v1alpha1, and left out for the hub.
//
// Parts that conversion does not read stay the same bytes. A large object needs little more memory than its bytes.
package convert
