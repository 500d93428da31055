// Package address decides which network addresses a registry may have. The author of a stack chooses the registry, and
// a registry can redirect to any other host. Neither must be able to make the operator send requests to services that
// are meant only for the operator's own machine. Addresses for private use are allowed, because registries in company
// networks and clusters have such addresses.
package address
