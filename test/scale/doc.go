// Package scale measures the operator among many stacks and many unrelated objects. It measures how fast the operator
// applies children, next to a bare client that makes the same calls, what it needs when idle, and what a restart costs.
// For stacks of the previous operator it counts the writes of the take-over, and measures how long lists take
// meanwhile.
package scale
