// Package resolve reads what a stack refers to: Secrets and ConfigMaps of its
// own namespace. It says what is missing or unusable in the words of the
// status, gives digests instead of values wherever a digest will do, and never
// puts a secret's value into an error.
package resolve
