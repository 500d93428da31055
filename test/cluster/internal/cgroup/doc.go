// Package cgroup gives a node a control group of its own in every hierarchy of
// the machine, so that nodes do not clear up each other's pods, and removes it
// again: control groups are the one thing that no namespace takes along.
package cgroup
