// Package worker handles the stacks of a queue, several at a time, away from the
// reconcile path.
package worker
