// Package baseconfig reads the configurations of distributions and the whole configurations of users: YAML of any
// origin, which must not fill the memory. It expands aliases and merge keys, and keeps the order, unknown keys and the
// spelling of scalars.
package baseconfig
