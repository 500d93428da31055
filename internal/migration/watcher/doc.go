// Package watcher migrates the stored objects of a cluster to the storage version of the definition. The leader runs it
// at its start and after each change of the definition. It reports the progress in the log and in metrics.
package watcher
