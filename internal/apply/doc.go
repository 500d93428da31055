// Package apply applies objects to the cluster by server-side apply (decision 0002). It checks the owner of an object
// before it forces anything, takes over fields from the program that wrote them before, writes nothing if nothing
// differs, and deletes objects that are no longer wanted. It is independent of the kind of the owner.
package apply
