// Package forward connects a local port to a pod of a stack through the API server. As kubectl does, it uses a
// WebSocket, or SPDY if the API server does not support WebSockets or the connection uses an HTTPS proxy.
package forward
