// Package queue orders the pending reconcile requests. It prefers requests from namespaces in which few requests are
// waiting, so that the many stacks of one tenant do not delay the stacks of other tenants (decision 0015). Requests for
// new children come last.
package queue
