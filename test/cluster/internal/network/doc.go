// Package network defines the addresses of a cluster with a node. Each such cluster on a machine has its own slot, so
// that several clusters can run at the same time. The name of the link on the machine's side contains the number of the
// slot, so a slot is in use while its link exists.
package network
