// Package plan contains the function that both the controller and the command line call: Build returns the
// configuration, the environment and the objects for a stack and the facts that were read for it, without any I/O
// (decision 0006).
package plan
