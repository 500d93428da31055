// Package rollout runs the operator beside the cluster's own controllers and the real kubectl, with pods that become
// healthy or do not: a change that fails, a rollback, scaling, an autoscaler, and every way of deleting a stack.
package rollout
