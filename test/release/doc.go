// Package release tests hack/release, which writes the files of a release. The test that builds a release has the tag
// release, because it compiles the operator for several platforms. The test that installs from the files has the tag
// node, too, because it needs a cluster with a node. `make test-release` runs both.
package release
