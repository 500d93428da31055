// Package apply brings objects into the cluster by server-side apply: it checks
// whose an object is before it forces anything, takes fields over from the
// program that wrote them before, writes nothing when nothing differs, and
// deletes what is no longer wanted. It knows nothing of the kind it works for.
package apply
