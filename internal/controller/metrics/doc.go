// Package metrics holds what the operator tells Prometheus of stacks and of its own configuration, beside the metrics of
// controller-runtime. docs/metrics.md lists all of them.
package metrics
