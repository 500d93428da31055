// Package listener serves HTTP to clients that are not authenticated. It bounds their connections, so that no client
// can take the memory of the process or the place of another client.
package listener
