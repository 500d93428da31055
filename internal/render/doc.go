// Package render turns a stack and the few facts it runs on into the Kubernetes objects that make it up: one function
// per object, in a file named after its kind. It holds no policy about when to write and knows no cluster; the same
// input gives the same objects, byte for byte.
package render
