// Package address decides which network addresses a registry may have. The author of a stack chooses the registry, and
// a registry can redirect to any other host. Neither may make the operator send requests to services that are meant
// only for its own machine and network.
package address
