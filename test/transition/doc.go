// Package transition shows on a real API server that any rendering of a stack may follow any other: server-side apply
// takes back only what was applied, and what the server filled in besides must not be in the way.
package transition
