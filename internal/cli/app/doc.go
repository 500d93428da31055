// Package app is what all commands of kubectl-llamastack share: the streams, the messages and tables, the rejections
// that set the exit code, the requests to a cluster, and the completion of flags.
package app
