// Package migrate implements the command migrate. It writes stored stacks in another API version. With --dry-run, it
// shows how this operator takes over the stacks of a cluster or of files.
package migrate
