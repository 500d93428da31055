// Package convert turns a LlamaStackDistribution of v1alpha1 into v1alpha2, the
// hub, and back. It works on the JSON of an object and not on Go types, so that
// what nobody here knows, and how a number was spelt, comes through as it is.
//
// Conversion never fails and loses nothing. A table says which field of one
// version is which of the other. What the other version cannot hold travels in
// one annotation, and comes back where the fields that can be seen still agree
// with it. Anybody can write that annotation: what comes back fits the types of
// its version and changes nothing that can be seen, or the annotation is ignored.
//
// The status is stored as the hub has it. What only v1alpha1 has of it (conditions
// and fields that follow from others) is derived for v1alpha1, and left out for the
// hub.
//
// What conversion does not look at stays the bytes it was. A large object needs
// little more memory than its bytes.
package convert
