// Package watcher migrates the stored objects of a CustomResourceDefinition to its storage version. The leader runs the
// migration when the leader starts, and after each change to the CustomResourceDefinition. The package reports the
// progress in the log and in metrics.
package watcher
