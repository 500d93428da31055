// Package network says which addresses a cluster with a node uses. Each such
// cluster on a machine has a slot of its own, so that several can run beside
// each other; the name of the link on the machine's side is what takes a slot.
package network
