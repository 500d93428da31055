// Package failure explains why a registry or the token service of a cloud does not respond, and for how long it asks a
// client to wait. Its errors contain no text that a remote host wrote.
package failure
