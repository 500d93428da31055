// Command krew packs the programs of the command line into archives, and writes the manifest with which krew, the
// package manager for kubectl plugins, installs them.
package main
