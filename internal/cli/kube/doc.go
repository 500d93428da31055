// Package kube connects the commands that work on a cluster: the flags of kubectl that select a cluster, a namespace and
// stacks, one client for all objects that a command reads, and errors that name the missing right or the remedy.
package kube
