// Package controller brings the cluster to what a LlamaStackDistribution asks
// for. Reconcile is an ordered list of steps; the first failure ends the list,
// and the status is written at the end, once, when it says something new.
package controller
