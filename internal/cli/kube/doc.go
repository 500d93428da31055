// Package kube connects the commands that work on a cluster. It has the flags of kubectl that select a cluster, a
// namespace and stacks, and one client for all objects that a command reads. Its errors name the missing right or the
// remedy.
package kube
