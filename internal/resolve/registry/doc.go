// Package registry reads the content of a distribution's image: its configuration, which is in its labels or in one of
// its layers (FR-027a), and the release of the server in it. Everything that is read is bounded and compared with its
// digest before it is used, nothing of an image is run, and requests go only to the registries and addresses that the
// operator's administrator allows. The content of a digest is remembered for a repository and its credentials. Whether
// a tag may be read is asked of the registry each time, with the caller's own credentials. Errors contain no text that
// a remote host wrote (decision 0014).
package registry
