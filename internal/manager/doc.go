// Package manager wires the operator: command-line options, scheme, caches,
// leader election, health, metrics and the controller. What it configures here
// is what tests run with.
package manager
