// Package stackstatus explains the status of a stack. It uses the objects of the stack to create a row of a list, a
// report with a tree of the objects, and a verdict. The verdict contains a sentence about the problem, and the next
// command to run.
package stackstatus
