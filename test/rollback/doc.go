// Package rollback tests, with the real Deployment controller and the real kubectl, that the operator distinguishes a
// rollback from every other change to a Deployment. It checks the behavior on which package rollout relies: the
// revisions, the copied annotations, and the fields that `kubectl rollout` writes.
package rollback
