// Package volume finds the changes to the volume of a stack that Kubernetes does not allow for an existing
// PersistentVolumeClaim.
package volume
