// Package open implements the command open. It forwards a local port to a stack's server.
package open
