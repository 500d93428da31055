// Package shape provides objects and configurations that stress the pipeline. Each is as large as the API server
// accepts, in a different part. The time and memory for processing them must grow with their size and stay within
// bounds.
package shape
