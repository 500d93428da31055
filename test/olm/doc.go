// Package olm checks the bundle and the catalog for the Operator Lifecycle Manager with the libraries of its project,
// which `operator-sdk bundle validate` and `opm validate` use. The package test/installed tests what OLM would install.
// It is a module of its own, because those libraries have many dependencies.
package olm
