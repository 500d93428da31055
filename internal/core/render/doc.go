// Package render returns the Kubernetes objects of a stack. Its input is the stack and a few facts about its
// environment. Each object has a separate function that returns it. The package does not decide when to write objects,
// and does not access a cluster. The same input produces the same objects, byte for byte.
package render
