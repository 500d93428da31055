// Package yamlnode reads and changes YAML node trees, copies them, and creates nodes from Go values. Nodes, unlike Go
// maps and structs, keep the order, unknown keys and the original text of scalars in a configuration. The package
// quotes new strings wherever the server's reader (PyYAML, which implements YAML 1.1) would read plain text as a
// different type.
package yamlnode
