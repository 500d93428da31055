// Package controlplane runs etcd, the API server and, when wanted, the
// controller manager and the scheduler as children of this process: keys and
// flags, the order of the start, health, and the end of it all. A node, when
// wanted, starts and ends with them.
package controlplane
