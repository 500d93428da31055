// Package intent is what a user wishes of the server's configuration, in one
// normal form. It decodes the spec strictly: the shapes that take two forms
// (one provider or a list, a name or an object) are resolved, ids have their
// defaults, lists keep their written order, maps are sorted, and every item
// remembers the field path it was written at. Whatever is wrong is reported
// with that path and a remedy, all of it at once. The rules here need nothing
// but the object; what depends on the server's release is package stackconfig's.
package intent
