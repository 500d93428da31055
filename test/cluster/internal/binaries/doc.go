// Package binaries downloads the programs of a cluster, or builds them from Go modules, and keeps them in the user's
// cache. A directory in the cache is complete or absent: programs are written next to it and then renamed into place.
// If several callers need the same directory, one of them creates it, and the others wait.
package binaries
