// Package baseconfig reads the configuration that a distribution comes with, and whole configurations of users: YAML
// of any origin, which must not fill the memory. Aliases and merge keys are expanded; order, unknown keys and the
// spelling of scalars stay.
package baseconfig
