// Package migration stores every object of a CustomResourceDefinition in its storage version, and then removes the
// other versions from its list of stored versions. The definition determines the storage version, so the same code
// serves an upgrade and the rollback. The package is independent of reconciliation.
package migration
