// Package registry tests the program in internal/startup that updates the server's registry before the server starts.
// The program runs with the Python of real releases against SQLite files, a real Redis and a real PostgreSQL. A second
// process of the same Python, peer.py, writes and reads the registries by the release's own classes. It also registers
// what a configuration declares by the release's own start-up code, so that no key or id is taken from our data.
//
// The test has the build tag server. Run it with make test-server. RELEASES names the lines ("0.3 1.5", or all);
// realserver.Releases returns the lines that are tried without it.
package registry
