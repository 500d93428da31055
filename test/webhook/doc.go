// Package webhook runs the operator binary with the permissions that the installation gives it, in a cluster whose API
// server calls the webhooks through their Service. It checks that the documented procedures for users of v1alpha1 work:
// an upgrade, lists and edits in both versions, and the rollback.
package webhook
