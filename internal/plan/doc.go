// Package plan computes the desired state of a stack. The controller and the command line both call Build, which
// returns the configuration, the environment and the objects for a stack and facts about it, without I/O (decision
// 0006).
package plan
