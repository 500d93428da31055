// Package forward connects a local port to a pod of a stack through the API server: WebSocket first, SPDY for API
// servers without it, as kubectl does.
package forward
