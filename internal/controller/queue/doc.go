// Package queue orders what waits to be reconciled: the namespaces take turns, so that one tenant's stacks never hold up
// those of all others, and a look at a child that was just made comes after everything else.
package queue
