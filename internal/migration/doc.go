// Package migration brings every stored object of a CustomResourceDefinition into
// its storage version, and then takes the other versions out of its list of stored
// versions. Which version that is the definition says, so that the same code serves
// an upgrade and the way back. It knows nothing of reconciling.
package migration
