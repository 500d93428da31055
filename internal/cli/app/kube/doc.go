// Package kube connects commands to a cluster. It contains the kubectl flags that select a cluster, a namespace and
// stacks, and a client for all objects that commands read. Its errors name the missing permission or the remedy.
package kube
