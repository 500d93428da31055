// Package informer creates informers that reconnect soon after an unavailable API server recovers, and retries single
// calls until the API server responds.
package informer
