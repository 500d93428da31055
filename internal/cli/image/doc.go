// Package image labels images in a registry or in an OCI layout in a directory. It changes the manifests and the
// configurations of images as JSON and keeps all fields that it does not understand. The same input gives the same
// bytes.
package image
