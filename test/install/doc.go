// Package install tests what users install, the manifests in dist and the image of the Dockerfile: that they agree with
// the names and options in the code, and with each other. What they do on an API server is shown by test/installed.
package install
