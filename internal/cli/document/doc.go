// Package document reads the objects of files, within size limits: YAML with several documents, JSON, lists, folders
// and standard input. It reports the position of an object in its file, and why a text is not an object.
package document
