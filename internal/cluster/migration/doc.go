// Package migration stores every object of a CustomResourceDefinition in the storage version, and then removes the
// other versions from the list of stored versions. The definition determines the storage version, so the same code is
// used for an upgrade and for a rollback. The package is independent of reconciliation.
package migration
