// Package status computes the conditions and the phase of a stack from the state of its workload and from the failure
// that ended a reconcile. It is pure. The caller passes the time and the observed objects.
package status
