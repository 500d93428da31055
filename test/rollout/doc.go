// Package rollout runs the operator together with the cluster's own controllers and the real kubectl, with pods that
// become healthy and pods that do not. It tests a failing change, a rollback, a quota, a killed pod, an autoscaler, and
// every way to delete a stack.
package rollout
