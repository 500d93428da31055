// Package nodeinit runs the first process in the namespaces of a node. The process sets up the mounts and the
// addresses, starts and restarts the node's programs, and reaps orphaned processes. When the process ends, the kernel
// ends every process of the node and removes the node's mounts, interfaces and packet rules.
package nodeinit
