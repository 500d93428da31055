// Package realserver runs the real Llama Stack server of every release line for which there is data, on this machine.
// Install creates the Python environment of a release from its lock file in test/server/environment. In that
// environment, a Checker runs check.py, which reports whether the release's own code accepts a configuration. A check
// has one of three tiers. The tier Parse reads the configuration into the server's classes. The tier Initialize also
// starts the server's application. The tier Serve also sends requests to the application. Tests that install a release
// have the build tag server.
package realserver
