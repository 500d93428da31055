// Package rollout runs the operator next to the cluster's own controllers and the real kubectl, with pods that become
// healthy or do not. It covers a change that fails, a rollback, scaling, an autoscaler, and every way of deleting a
// stack.
package rollout
