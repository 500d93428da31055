// Package stackstatus decides what the status of a stack means: from the objects that were read it makes a row of a list,
// a report of the stack and its objects, and a verdict, which is one sentence and the command to run next.
package stackstatus
