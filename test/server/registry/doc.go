// Package registry is the test of the program in internal/startup, which brings the
// server's registry in line before the server starts. It runs by the Python of real
// releases against SQLite files, a real Redis and a real PostgreSQL. A second
// process of the same Python, peer.py, writes and reads the registries by the
// release's own classes and registers what a configuration declares by the
// release's own start-up code, so that no key or id is taken from our data.
//
// The test has the build tag server: make test-server runs it. RELEASES names the
// lines ("0.3 1.5", or all); realserver.Releases says which are tried without it.
package registry
