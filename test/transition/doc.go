// Package transition shows on a real API server that any rendering of a stack may follow any other. Server-side apply
// takes back what was applied and no more; what the server filled in beside it (half of a rolling update, a file mode
// of a volume that becomes another kind of volume) must not be in the way.
package transition
