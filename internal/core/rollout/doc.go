// Package rollout defines the record of the last rendering, and decides from this record which template to apply next.
// Neither an operator upgrade nor the change from an operator for v1alpha1 to this operator restarts a pod. The
// operator reverts an edit by another client, but not a rollback by a user. A stale cache causes no write.
//
// The pod template carries the digest of its inputs (Inputs), and the Deployment carries the Record. Decide compares
// both with the current rendering.
package rollout
