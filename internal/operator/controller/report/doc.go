// Package report collects what a reconcile finds: conditions, events and the time of the next reconcile. It writes the
// status of a stack, and emits the events.
package report
