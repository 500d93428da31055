// Package rollout keeps the record of what was rendered last, and decides from it what to apply next, so that neither
// an operator upgrade nor a take-over restarts a pod, an edit by another client is reverted, a rollback by a user is
// left alone, and a stale cache causes no write (decision 0013).
//
// The pod template carries the digest of its inputs (Inputs), and the Deployment carries the Record. Decide compares
// both with the current rendering.
package rollout
