// Package intent is the user's intent for the server's configuration, in one normal form. It decodes the spec strictly.
// Values with two forms (one provider or a list, a name or an object) are resolved, ids have their defaults, lists keep
// their written order, maps are sorted, and every item has the field path at which it was written. All errors are
// reported at once, each with its path and a remedy. The rules here need only the object. Rules that depend on the
// server's release belong to package stackconfig.
package intent
