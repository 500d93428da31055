// Package yamlnode reads and changes YAML node trees: get, set and remove by
// key, deep copies, and nodes from Go values. Working on nodes instead of maps
// keeps what a configuration's author wrote: order, unknown keys, the spelling
// of scalars. Strings it makes are quoted wherever the server's reader (PyYAML,
// which speaks YAML 1.1) would take the plain text for something else.
package yamlnode
