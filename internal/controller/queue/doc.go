// Package queue orders the pending reconcile requests. The namespaces take turns, so that one tenant's stacks never
// block those of all others (decision 0015). A request for a child that was just created comes after everything else.
package queue
