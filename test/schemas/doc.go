// Package schemas tests the JSON Schemas in the folder schemas with a validator. It checks that valid manifests are
// accepted, that mistakes are reported at their paths, and that the schemas match the definition and the pipeline.
package schemas
