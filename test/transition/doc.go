// Package transition shows on a real API server that any rendering of a stack may follow any other. Server-side apply
// removes only the applied fields. Fields that the server filled in must not cause a conflict, for example half of a
// rolling update, or a file mode of a volume that becomes another kind of volume.
package transition
