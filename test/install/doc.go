// Package install tests that the manifests of config and the image that the Dockerfile builds match the names and
// options in the code and match each other. test/installed tests their effect on an API server.
package install
