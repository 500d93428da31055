// Package informer makes informers that reach an API server soon after it is back, and repeats a call until the API
// server answers it.
package informer
