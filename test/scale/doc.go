// Package scale measures the operator in a cluster with many stacks and many unrelated objects. It measures the rate at
// which the operator applies children, and compares this rate with that of a simple client that makes the same calls.
// It also measures the resource usage when the operator is idle, and the number of calls after a restart. For stacks of
// the previous operator, it counts the writes during the takeover, and measures how long list calls take during this
// time.
package scale
