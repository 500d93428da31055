// Package informer creates informers that reconnect to an API server soon after it is available again, and repeats a
// call until the API server answers it.
package informer
