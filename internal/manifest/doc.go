// Package manifest writes a LlamaStackDistribution as a manifest for people, in
// either version: the fields in the order of the API's types, without what only a
// cluster adds, with the comments of the manifest it was made from, and with
// comments where a field means something else than before.
//
// Applied, the manifest gives the object that the API server's own conversion
// gives for the manifest it was made from. Only comments are this package's own.
package manifest
