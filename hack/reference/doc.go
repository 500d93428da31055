// Command reference completes the API reference that crd-ref-docs writes. It adds tables to the fields that accept more
// than one shape: a table of the shapes, and a table of the keys of the object shape. The CustomResourceDefinition has
// no type for these fields, so crd-ref-docs prints only their description.
package main
