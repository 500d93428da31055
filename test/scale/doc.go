// Package scale measures the operator in a cluster with many stacks and many unrelated objects. It measures the rate at
// which the operator applies children, compared with a bare client that makes the same calls, its use of resources when
// it is idle, and the calls after a restart. For stacks of the previous operator, it counts the writes of the
// take-over, and measures the duration of list calls during the take-over.
package scale
