// Package registry serves a container image registry on the link between the machine and the node, and builds images
// that contain a single program. It uses plain HTTP and uncompressed layers, because images do not leave the machine.
package registry
