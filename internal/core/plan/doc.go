// Package plan computes the desired state of a stack. The controller and the command line both call Build, which
// returns the configuration, the environment, the objects and other facts of a stack, without I/O.
package plan
