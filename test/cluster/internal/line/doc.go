// Package line defines the Kubernetes lines (1.37, …) that can be built here. Each line is a directory
// components/k8s-<line> with its own Go module, which pins Kubernetes and etcd. No other part of the tool names a
// version.
package line
