// Package registry reads what a distribution's image says of itself: the
// configuration it comes with, which is in its labels or in one of its layers
// (FR-027a), and the release of the server in it. Everything that is read is
// bounded and compared with its digest before it is used, nothing of an image is run,
// and only registries and addresses are asked that the operator's administrator
// allows. What a digest holds is remembered for a repository and its credentials;
// that a tag may be read is asked of the registry each time, with the caller's own
// credentials. Errors hold nothing that a remote host wrote.
package registry
