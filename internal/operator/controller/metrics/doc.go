// Package metrics holds the operator's Prometheus metrics about stacks and about its own configuration. They supplement
// the metrics of controller-runtime. docs/reference/metrics.md lists all of them.
package metrics
