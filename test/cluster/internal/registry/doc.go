// Package registry serves a registry of container images on the link between the machine and the node, and makes images
// of single programs. It uses plain HTTP and uncompressed layers, because images do not leave the machine.
package registry
