// Package scale measures the operator among many stacks and many unrelated objects. It measures how fast the operator
// applies children, compared with a bare client that makes the same calls, its resource use when idle, and the cost of
// a restart. For stacks of the previous operator, it counts the writes of the takeover and measures how long list calls
// take during it.
package scale
