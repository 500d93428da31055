// Package podtemplate lays the user's strategic merge patch (spec.workload.overrides.podTemplate) over the pod template
// of a stack. The patch is read strictly, so that a slip of the pen is an error with its path, and held to what it may
// not change: what selects the pods, which server runs, and what the operator mounts for it.
package podtemplate
