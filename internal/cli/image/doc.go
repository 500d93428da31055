// Package image labels images in a registry or in an OCI layout in a directory. It changes the manifests and the
// configurations of images as JSON, and keeps unknown fields. Equal input produces identical output.
package image
