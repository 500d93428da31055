// Package nodeinit is the first process in the namespaces of a node: it makes
// the mounts and the addresses, starts the node's programs and starts them
// again, and collects what they leave. When it ends, the kernel ends every
// process of the node and drops its mounts, interfaces and packet rules.
package nodeinit
