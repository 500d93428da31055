// Package convert converts a v1alpha1 LlamaStackDistribution to v1alpha2, the hub, and back. It converts the JSON of an
// object and not Go types, so that unknown fields are kept, and numbers remain as they are written.
//
// Conversion accepts every LlamaStackDistribution, and cuts one with over 1,000 levels. It does not lose any value of
// the spec unless the annotations exceed their maximum size. A table maps the fields of one version to
// those of the other. If the other version cannot hold a value, conversion stores the value in an annotation. It
// restores the value if the visible fields, which both versions have, still agree with it. Because any user can write
// that annotation, conversion ignores it unless the values in it fit the types of their version and change no visible
// field.
//
// The status is stored in the form of the hub. Conversion to v1alpha1 derives the conditions and fields that only
// v1alpha1 has. Conversion to the hub omits them.
//
// Conversion copies, byte by byte, the parts that it does not read. Converting a large object needs little more memory
// than the object itself.
package convert
