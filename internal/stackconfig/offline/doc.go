// Package offline is a step of the engine: what of a configuration needs the internet, where the stack has no way there. What
// keeps the server from starting is refused, what only fails when it is used is told.
package offline
