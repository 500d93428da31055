// Package schemas tests the JSON Schemas in the folder schemas with a validator: manifests that are accepted are valid,
// mistakes are reported at their path, and the schemas agree with the definition and the pipeline.
package schemas
