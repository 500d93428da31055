// Package names defines every name that the operator uses in a cluster: objects, labels, annotations, the field
// manager. These names are a contract with existing stacks (Deployment selectors are immutable), so no other package
// spells them.
package names
