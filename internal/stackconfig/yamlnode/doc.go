// Package yamlnode reads and changes YAML node trees: get, set and remove by key, deep copies, and nodes from Go
// values. Nodes, unlike maps, keep what the author of a configuration wrote: order, unknown keys, the spelling of
// scalars. New strings are quoted wherever the server's reader (PyYAML, which implements YAML 1.1) would read the plain
// text as another type.
package yamlnode
