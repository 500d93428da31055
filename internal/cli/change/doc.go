// Package change compares the plan of a running stack with the plan of an edited manifest. It finds the changes of the
// configuration, the objects, the pods and the data, and the changes for clients. It writes them as text or as a
// unified diff. It does no I/O, and redacts credentials in values from a ConfigMap or manifest of the user.
package change
