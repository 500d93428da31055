// Package status turns what a reconcile found into what a user reads: the
// failure that ended it, the state of the workload, and from both the
// conditions, the phase and the Ready summary. It is pure: the caller passes
// the time and everything observed.
package status
