// Package faults runs the operator as a separate process, with the token and the permissions of its ServiceAccount. A
// proxy interrupts the operator's calls to the API server. After every fault, short or long, no data is lost, pods
// whose spec does not change continue to run, and the stack reaches the intended state within a minute after the end of
// the fault.
package faults
