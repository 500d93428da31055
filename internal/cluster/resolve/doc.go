// Package resolve reads the objects that a stack refers to: Secrets in the stack's own namespace, and ConfigMaps. It
// reports missing and unusable references as failures for the status of the stack, returns digests instead of values
// where a digest is enough, and never puts a secret value into an error.
package resolve
