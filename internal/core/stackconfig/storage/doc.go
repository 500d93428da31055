// Package storage is the step of package stackconfig that determines where the server stores its data: the backends,
// the stores in the backends, and a registry for each stack.
package storage
