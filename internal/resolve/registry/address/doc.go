// Package address says at which network addresses a registry may be asked. Who writes a stack chooses the registry, and
// a registry can redirect to any other host: neither may lead the operator to what only its own machine and network are
// for.
package address
