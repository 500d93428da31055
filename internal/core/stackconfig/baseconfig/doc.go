// Package baseconfig reads the configurations of distributions and the complete configurations of users. The YAML can
// come from any source, so the package limits the memory that it needs. It expands aliases and merge keys, and keeps
// the order, unknown keys and the original text of scalars.
package baseconfig
