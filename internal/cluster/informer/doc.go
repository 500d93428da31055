// Package informer creates informers that reconnect soon after an unavailable API server recovers, and that read long
// lists in pages. It also retries single calls until the API server responds.
package informer
