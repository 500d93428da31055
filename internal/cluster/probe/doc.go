// Package probe requests the version, the providers, the models and the MCP servers of running servers. It sends the
// requests outside the reconcile path, to a few servers at a time, and only to the addresses that Locate returns. It
// queries a server until the server responds, at most five times for each rollout. If a server reports the health of
// its providers, the package repeats the requests every few minutes. The interval grows while a server does not
// respond. The package stores only values of a known form from a response, and never stores configuration or free text.
package probe
