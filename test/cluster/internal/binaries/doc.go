// Package binaries downloads the programs for a cluster, or builds them from Go modules, and stores them in the user's
// cache. A directory in the cache is always complete: programs are written to a directory next to it, which is then
// renamed. If several callers need the same directory, one of them creates it, and the others wait.
package binaries
