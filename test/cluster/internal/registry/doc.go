// Package registry serves a registry of container images on the link between
// the machine and the node, and makes images of single programs. Plain HTTP,
// layers that are not compressed: nothing leaves the machine.
package registry
