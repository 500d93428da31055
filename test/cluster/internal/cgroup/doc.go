// Package cgroup creates a control group for a node in every hierarchy of the machine, so that nodes do not remove each
// other's pods. It also removes the control group, because the kernel does not remove it together with a namespace.
package cgroup
