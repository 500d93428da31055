// Package watch determines which stacks an event affects, and requeues them. Event handlers run before the fair queue,
// so they do not search for stacks.
package watch
