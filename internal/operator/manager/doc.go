// Package manager sets up the operator: command-line options, scheme, caches, leader election, health, metrics,
// webhooks, the migration of stored stacks, and the controller. Tests run with the same configuration.
package manager
