// Package listener serves HTTP over TLS to clients that are not authenticated. It bounds their connections, so that no
// client can take the memory of the process or the place of another client.
package listener
