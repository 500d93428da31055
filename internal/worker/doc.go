// Package worker processes the stacks in a queue outside the reconcile path, several at a time.
package worker
