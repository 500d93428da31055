// Package image labels images, and knows where they are: in a registry, or in an OCI layout in a directory. It changes the
// manifests and the configurations of images as JSON, of which it leaves as it is what it does not know, and makes the same
// bytes of the same input.
package image
