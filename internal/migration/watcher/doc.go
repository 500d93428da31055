// Package watcher migrates the stored objects of a cluster to the storage version of the definition. It runs in the
// leader, at start and whenever the definition changes. It reports the progress in the log and in metrics.
package watcher
