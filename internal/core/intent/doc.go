// Package intent strictly decodes the spec of a stack to a normal form, the Intent. In the Intent, values that can be
// written in two forms (one provider or a list, a name or an object) have one form, and each omitted ID has its
// default. Lists keep their order, maps are sorted, and every item has its field path. The package reports all errors
// at once, each with its path and a remedy. Its rules depend only on the object. Rules that depend on the server's
// release belong to package stackconfig.
package intent
