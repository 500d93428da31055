// Package names holds every name the operator gives to things in a cluster:
// objects, labels, annotations, the field manager. They are a contract with
// whoever runs stacks today (Deployment selectors are immutable), so nothing
// else in the project spells one.
package names
