// Package shape provides objects and configurations that stress the pipeline. They are as large as the API server
// accepts, each in another way. Time and memory for processing them must grow with their size and stay within bounds.
package shape
