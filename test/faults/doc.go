// Package faults runs the operator as a process of its own, with the token and the rights that are shipped, behind a
// proxy that breaks what goes through it. Whatever breaks, and for however long: nothing is lost, pods that nobody
// changed stay, and the stack is as it should be within a minute after the fault ends.
package faults
