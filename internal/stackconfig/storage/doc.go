// Package storage is the step of the engine that determines where the server stores its data: backends, the stores in
// them, and a registry for each stack.
package storage
