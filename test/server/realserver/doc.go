// Package realserver is the real Llama Stack server on this machine, in every release line that the data describes.
// Install makes a release's Python environment from its lock in test/server/environment. Start runs check.py in it,
// which reports of any configuration whether the release's own code accepts it: parse reads it into the server's
// classes, initialise starts the server's application in process. Tests that use it have the build tag server.
package realserver
