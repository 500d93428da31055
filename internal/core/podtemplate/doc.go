// Package podtemplate applies the user's strategic merge patch (spec.workload.overrides.podTemplate) to the pod
// template of a stack. It reads the patch strictly, so that a misspelled field is an error with its path. It rejects
// changes to the labels that select the pods, to the operator's annotations, to the server's image, and to the
// operator's mounts in the server's container.
package podtemplate
