// Package cgroup gives a node its own control group in every hierarchy of the machine, so that nodes do not remove each
// other's pods, and removes it again, because control groups are not removed together with any namespace.
package cgroup
