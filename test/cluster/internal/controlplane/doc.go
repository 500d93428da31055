// Package controlplane runs etcd, the API server and, if requested, the controller manager and the scheduler as
// children of this process. It handles keys and flags, the order of the start, health, and the shutdown. A requested
// node starts and ends with them.
package controlplane
