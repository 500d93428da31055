// Package planning validates a stack, reads from the cluster and from images what its plan depends on, and plans it. It
// writes no object.
package planning
