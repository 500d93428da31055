// Package registry tests the program in internal/core/startup that updates the server's registry before the server
// starts. The program runs with the Python of real releases against SQLite files, a real Redis server and a real
// PostgreSQL server. A second process runs peer.py with the same Python. It writes and reads the registries with the
// release's own classes. It also registers the resources of a configuration with the release's own start-up code, so
// that the keys and IDs in the tests do not depend on the operator's data.
//
// The tests have the build tag server. Run them with `make test-server`. The variable RELEASES lists the lines, such as
// "0.3 1.5", or "all". If it is not set, the tests use the lines that realserver.Releases returns.
package registry
