// Package caches knows what the controller's caches contain: the watched kinds, their indexes, and the kinds that some
// clusters do not serve.
package caches
