// Package caches knows what the caches contain: the watched kinds, what is kept of each object, the indexes, and the
// kinds that some clusters do not serve.
package caches
