// Package registry reads the content of a distribution's image: its configuration, which is in its labels or in one of
// its layers (FR-027a), its entrypoint, and the release of the server in the image. It also reads the metadata in the
// image of an external provider. The package limits the size of all content, compares the content with its digest
// before use, and runs nothing from an image. It sends requests only to the registries and addresses that the
// operator's administrator allows. It remembers the content of a digest, and the digest of a tag, for each repository
// and set of credentials. It never gives a caller a result that was obtained with other credentials, because only the
// registry can decide whether the caller may read the tag. Errors contain no text that a remote host wrote.
package registry
