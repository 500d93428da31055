// Package webhook runs the shipped program of the operator, with its shipped rights, where the API server reaches its
// webhooks by their Service. It checks the promises to users of v1alpha1: an upgrade, lists and edits in both versions,
// and the rollback.
package webhook
