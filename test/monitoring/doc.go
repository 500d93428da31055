// Package monitoring tests the alert rules in config/monitoring with the rule engine of Prometheus. It is a module of
// its own, because that engine has many dependencies.
package monitoring
