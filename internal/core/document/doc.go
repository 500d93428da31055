// Package document parses the objects of manifests within size limits. A manifest is YAML with one or more documents,
// or JSON, and may contain lists. The package reports the position of each object, and the problem with any text that
// is not an object.
package document
