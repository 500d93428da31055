// Package storage is the step of the engine that decides where the server keeps its data: backends, the stores in them,
// and a registry of the stack's own.
package storage
