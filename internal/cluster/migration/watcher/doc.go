// Package watcher migrates the stored objects of a CustomResourceDefinition to its storage version. The leader runs the
// migration when the leader starts, after each change to the CustomResourceDefinition, and again after a pause if some
// objects are not migrated. The package reports the progress in the log and in metrics.
package watcher
