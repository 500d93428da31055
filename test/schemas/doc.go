// Package schemas tests the JSON Schemas in the folder schemas with a validator. It checks that the schemas accept
// valid manifests, report mistakes at their paths, and match the definition and the pipeline. The definition is the
// CustomResourceDefinition. The pipeline consists of the operator's own checks of a stack.
package schemas
