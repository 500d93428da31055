// Package binaries builds the programs of a cluster from Go modules and
// keeps them in the user's cache. A folder in the cache is complete or
// absent: programs are built beside it and it is renamed into place, and
// callers that start at the same time wait for one build.
package binaries
