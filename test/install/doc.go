// Package install tests the manifest that users install, dist/install.yaml: that it agrees with the names and options in
// the code. What it does on an API server is shown by `make demo` and the tests of the controller, which run under its
// RBAC.
package install
