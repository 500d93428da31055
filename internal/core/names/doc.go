// Package names defines every name that the operator uses in a cluster: the names of objects, labels, annotations and
// the field manager. Existing stacks depend on these names, because Deployment selectors are immutable. For this
// reason, no other package contains them as literals.
package names
