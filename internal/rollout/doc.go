// Package rollout keeps the one record of what was rendered and decides by it what to apply next, so that neither an
// operator upgrade nor a take-over restarts a pod, an edit by somebody is put back, a rollback by a user is left alone,
// and a stale cache writes nothing.
//
// The pod template carries the digest of what feeds it (Inputs), the Deployment the Record. Decide compares both with
// what would be rendered now.
package rollout
