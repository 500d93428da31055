// Package controller makes the cluster match a LlamaStackDistribution. Reconcile runs an ordered list of steps. The
// first failure ends the list. At the end, Reconcile writes the status once, if it has changed.
package controller
