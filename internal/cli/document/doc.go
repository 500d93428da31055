// Package document parses the objects of manifests, within size limits: YAML with several documents, JSON, and lists.
// It reports the position of an object in its file, and why a text is not an object.
package document
