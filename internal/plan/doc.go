// Package plan computes the desired state of a stack. The controller and the command line both call Build, which
// returns the configuration, the environment and the objects for a stack and the facts that were read for it. Build
// performs no I/O (decision 0006).
package plan
