// Package network defines the addresses of a cluster with a node. Each such cluster on a machine has its own slot, so
// that several can run at the same time. A slot is taken by the name of the link on the machine's side.
package network
