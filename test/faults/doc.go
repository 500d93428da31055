// Package faults runs the operator as a separate process, with the token and the permissions of its ServiceAccount. A
// proxy interrupts its calls to the API server. After every fault, long or short, nothing is lost, unchanged pods stay,
// and the stack reaches the intended state within a minute after the end of the fault.
package faults
