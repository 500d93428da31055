// Package cgroup creates a control group for a node in every hierarchy of the machine, so that a node does not remove
// the pods of another node. It also removes the control group, because the kernel does not remove it when the
// namespaces of the node end.
package cgroup
