// Package shape has objects and configurations that are hard on the pipeline: as large as the API server takes them, each in
// another way. Whoever works on one of them must take time and memory that grow with its size, and stay within bounds.
package shape
