// Package image builds and pushes OCI images without a container engine. It creates layers from files, programs and
// trees, and images from these layers, for the tests on a real node: the operator, a stand-in for the server, the real
// server, and databases. Layers are not compressed, which is several times faster, because the registry is close to the
// node.
package image
