// Package shape provides objects and configurations that stress the pipeline. In each of them, a different part is as
// large as the API server accepts. The time and memory for processing must be proportional to the size and within
// limits.
package shape
