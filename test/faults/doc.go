// Package faults runs the operator as a separate process, with the token and the rights that are shipped, behind a
// proxy that breaks its calls. After every fault, long or short, nothing is lost, unchanged pods stay, and the stack is
// as it should be within a minute after the fault ends.
package faults
