// Package controller makes the cluster match a LlamaStackDistribution. Reconcile is an ordered list of steps. The first
// failure ends the list. The status is written at the end, once, if it has changed.
package controller
