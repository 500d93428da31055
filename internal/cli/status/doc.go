// Package status implements the command status. It reads the objects of a stack concurrently, so that a report takes
// about as long as one request, and names the objects that the caller cannot read. From the objects it creates a row
// of a list, a report with a tree of the objects, and a verdict: a sentence about the problem, and the next command to
// run.
package status
