// Package transition shows with a real API server that the operator can change a stack's Deployment from any form to
// any other form. Server-side apply removes only the fields that the operator applied before. The fields that the API
// server added as defaults remain, and they must not make the next form invalid. Examples are the settings of a rolling
// update after a change to the strategy, and the file mode of a volume that becomes a different kind of volume.
package transition
