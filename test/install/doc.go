// Package install tests what users install, the manifests in dist and the image of the Dockerfile: that they agree with
// the names and options in the code, and with each other. test/installed shows their effect on an API server.
package install
