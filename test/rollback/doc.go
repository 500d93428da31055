// Package rollback shows with the real Deployment controller and the real kubectl that the operator distinguishes a
// rollback from every other reason for a changed Deployment. It checks the facts that package record uses: revisions,
// copied annotations, and what `kubectl rollout` writes.
package rollback
