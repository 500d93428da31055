// Package ogxserver reads an object of kind OGXServer, of the ogx-k8s-operator, and converts it to a
// LlamaStackDistribution of v1alpha2. It reports where each field went, which fields have no place and what to do
// instead, and where the server of the stack behaves differently from the server of the OGXServer. There is no
// conversion back.
package ogxserver
