// Package scale measures the operator among many stacks, beside many objects that are none of its business: how fast it
// applies children, next to a bare client that makes the same calls, what it needs at rest, and what a restart costs.
// Of stacks that the operator before left it counts what the take-over writes, and measures how long lists take
// meanwhile.
package scale
