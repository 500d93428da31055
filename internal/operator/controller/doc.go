// Package controller makes the cluster match a LlamaStackDistribution. Reconcile runs an ordered list of steps, and
// skips the remaining steps after the first failure. At the end, Reconcile writes the status once, if it has changed.
package controller
