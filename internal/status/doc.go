// Package status converts the results of a reconcile to what a user reads: from the failure that ended it and the state
// of the workload, it computes the conditions, the phase and the Ready summary. It is pure: the caller passes the time
// and everything that was observed.
package status
