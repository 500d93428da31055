// Package rollback tests, with the real Deployment controller and the real kubectl, that the operator distinguishes a
// rollback from every other cause of a changed Deployment. It checks the facts on which package rollout relies:
// revisions, copied annotations, and the fields that `kubectl rollout` writes.
package rollback
