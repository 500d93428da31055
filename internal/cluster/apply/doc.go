// Package apply applies objects to the cluster with server-side apply. It checks the owner of an object
// before it forces ownership of fields, takes over fields from programs that wrote them earlier, writes only objects
// that differ from their desired state, and deletes objects that are no longer needed. It is independent of the owner's
// kind.
package apply
