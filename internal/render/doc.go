// Package render returns the Kubernetes objects of a stack. Its input is the stack and a few facts about its
// environment. Each object has one function, in a file that is named after the kind of the object. It does not decide
// when objects are written, and does not access a cluster. The same input produces the same objects, byte for byte.
package render
