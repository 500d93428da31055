// Package resolve reads what a stack refers to: Secrets of its own namespace and ConfigMaps. It reports missing and
// unusable references in the words of the status, returns digests instead of values where a digest is enough, and never
// puts a secret value into an error.
package resolve
