// Package ogxserver reads an OGXServer, the kind of the ogx-k8s-operator, and converts it to a v1alpha2
// LlamaStackDistribution. It reports the new path of each field, the fields that a stack does not have (with a remedy
// if one is needed), and the places where the stack's server behaves differently from the OGXServer's server. There is
// no conversion in the other direction.
package ogxserver
