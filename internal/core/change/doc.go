// Package change compares the plan of a running stack with the plan of an edited manifest. It finds the changes to the
// configuration, the objects, the pods and the data, and the changes for clients. It writes the changes as text or as a
// unified diff. It does no I/O. It redacts credentials in values from the user's ConfigMaps and manifests.
package change
