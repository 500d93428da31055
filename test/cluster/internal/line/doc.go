// Package line knows the Kubernetes lines (1.37, …) that can be built here.
// Each line is a folder components/k8s-<line> with a Go module of its own that
// pins Kubernetes and etcd; nothing else in the tool names a version.
package line
