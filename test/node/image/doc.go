// Package image builds and pushes OCI images without a container engine: layers from files, programs and trees, and
// from them the images of the tests on a real node – the operator, a stand-in for the server, the real server, and
// databases. Layers are not compressed, which is several times faster and all that a registry beside the node needs.
package image
