// Package watcher migrates the stored objects of a cluster to the storage version of the definition. The leader runs
// the migration at the start and after each change to the definition. The package reports the progress in the log and
// in metrics.
package watcher
