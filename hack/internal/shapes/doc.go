// Package shapes reads the Go types behind the fields that accept more than one shape, such as one provider or a list
// of providers. The CustomResourceDefinition has no type for these fields, so the commands that write the JSON Schemas
// and the API reference obtain the keys of these fields from this package.
package shapes
