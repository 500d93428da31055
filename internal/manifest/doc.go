// Package manifest writes a LlamaStackDistribution as a readable manifest in either version. The fields are in the
// order of the API's types, without the fields that only a cluster adds. The manifest keeps the comments of its source,
// and gets comments where the meaning of a field has changed.
//
// Applying the manifest gives the same object as the API server's own conversion of the source. This package adds only
// comments.
package manifest
