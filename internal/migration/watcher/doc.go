// Package watcher migrates what a cluster stores to the storage version of the
// definition, in the operator that leads: at its start, and whenever the definition
// changes. It tells how that goes in the log and in metrics.
package watcher
