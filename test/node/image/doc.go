// Package image builds and pushes OCI images without a container engine. It creates layers from files, programs and
// folders, and images from these layers. The tests on a real node use images of the operator, a stand-in for the
// server, the real server, external providers, and databases. Layers are not compressed: the registry runs on the same
// machine as the node, so compression would take more time than it saves.
package image
