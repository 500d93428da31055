// Package image builds and pushes OCI images without a container engine. It makes layers from files, programs and
// trees, and from them the images of the tests on a real node: the operator, a stand-in for the server, the real
// server, and databases. Layers are not compressed. This is several times faster, and a registry next to the node needs
// no compression.
package image
