// Package ogxserver reads an object of kind OGXServer, of the ogx-k8s-operator, and
// makes a LlamaStackDistribution of v1alpha2 of it. It says where each field went,
// which fields have no place and what to do instead, and where the server of the
// stack does something else than the server of the OGXServer. There is no way back.
package ogxserver
