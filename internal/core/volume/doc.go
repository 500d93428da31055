// Package volume finds the changes to the volume of a stack that Kubernetes does not allow for an existing
// PersistentVolumeClaim, keeps the values of the claim in this case, and determines the condition of the volume.
package volume
