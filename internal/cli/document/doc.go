// Package document reads the objects of files: YAML of several documents, JSON,
// lists, folders and standard input, within bounds. It says where in a file an
// object is, and why a text is none.
package document
