// Package manifest writes a LlamaStackDistribution as a readable manifest in either version. The manifest contains the
// fields in the order of the API's types, and omits the fields that a cluster adds. The manifest contains the comments
// of its source, and comments on fields whose meaning has changed.
//
// Unless Absorbed replaces overrideConfig with other fields, applying the manifest produces the same object as a
// conversion of the source by the API server, because this package adds only comments.
package manifest
