// Package release tests hack/release, which writes the files of a release. The test that builds a release has the tag
// release, because it compiles the operator for several platforms. `make test-release` runs it.
package release
