// Package stackstatus decides what the status of a stack means. From the objects that were read it makes a row of a
// list, a report of the stack and its objects, and a verdict. The verdict is one sentence and the command to run next.
package stackstatus
