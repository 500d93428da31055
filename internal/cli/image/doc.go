// Package image implements the command image. It labels images in a registry or in an OCI layout in a directory, and
// shows the data that the operator reads from an image. It changes the manifests and the configurations of images as
// JSON, and keeps unknown fields. Equal input produces identical output.
package image
