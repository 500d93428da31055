// Package queue orders the pending reconcile requests. The namespaces take turns, so that the stacks of one tenant
// never block the stacks of other tenants (decision 0015). Requests for children that were just created come last.
package queue
