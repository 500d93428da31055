// Package nodeinit is the first process in the namespaces of a node. It sets up the mounts and the addresses, starts
// and restarts the node's programs, and reaps orphaned processes. When it ends, the kernel ends every process of the
// node and removes its mounts, interfaces and packet rules.
package nodeinit
