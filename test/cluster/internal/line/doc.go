// Package line reads the Kubernetes lines, such as 1.37, that the tool can build. Each line has a directory
// components/k8s-<line> with a Go module that pins the versions of Kubernetes and etcd. No other part of the tool
// contains these versions.
package line
