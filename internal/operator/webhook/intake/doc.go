// Package intake bounds what the clients of a webhook can hold. Any pod that reaches the port can send a request, and
// all requests of an API server can come from one address, so the bounds do not depend on addresses. No request waits
// for a slow client: a body is read before it takes a place among the processed bodies, and if memory is short, the
// request whose client is the furthest behind ends.
package intake
