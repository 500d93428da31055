// Package rollback shows with the real Deployment controller and the real kubectl that a rollback is told from every
// other reason for which a Deployment is not as it was rendered last. What package record knows of both (revisions,
// copied annotations, what `kubectl rollout` writes) is held here.
package rollback
