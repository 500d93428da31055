// Package manifest writes a LlamaStackDistribution as a readable manifest in either version. The fields are in the
// order of the API's types, without the fields that a cluster adds. The manifest contains the comments of its source,
// and comments on fields whose meaning has changed.
//
// Unless Absorbed replaces overrideConfig with other fields, applying the manifest produces the same object as a
// conversion of the source by the API server, because this package adds only comments.
package manifest
