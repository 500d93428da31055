// Package binaries builds the programs of a cluster from Go modules and keeps them in the user's cache. A directory in
// the cache is complete or absent: programs are built next to it and then renamed into place, and concurrent callers
// wait for one build.
package binaries
