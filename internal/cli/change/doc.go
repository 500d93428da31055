// Package change compares two plans of a stack: the one that runs and the one of an edited manifest. It finds what
// changes in the configuration, the objects, the pods, the data and for clients, and writes that as text or as a
// unified diff. It does no I/O, and redacts credentials in values that come from a user's ConfigMap or manifest.
package change
