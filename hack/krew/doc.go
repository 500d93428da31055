// Command krew packs the programs of the command line into archives, and writes the manifest by which krew, the package
// manager of kubectl's plugins, installs them.
package main
