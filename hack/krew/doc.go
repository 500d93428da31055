// Command krew packs the binaries of kubectl llamastack into archives, and writes the manifest that krew, the package
// manager for kubectl plugins, uses to install them.
package main
