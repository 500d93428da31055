// Package rollout keeps the record of the last rendering, and decides from it what to apply next. Neither an operator
// upgrade nor a takeover restarts a pod. An edit by another client is reverted, and a rollback by a user is not. A
// stale cache causes no write (decision 0013).
//
// The pod template carries the digest of its inputs (Inputs), and the Deployment carries the Record. Decide compares
// both with the current rendering.
package rollout
