// Package render returns the Kubernetes objects of a stack for the stack and a few facts about its environment: one
// function per object, in a file named after its kind. It does not decide when objects are written, and does not access
// a cluster. The same input produces the same objects, byte for byte.
package render
