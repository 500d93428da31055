// Package webhook runs the operator binary with the permissions that the installation gives it, in a cluster whose API
// server calls the webhooks through their Service. It checks that the documented procedures for users of v1alpha1 work:
// the quickstart, repeated applies, an upgrade, lists and edits in both versions, and a rollback. It also checks the
// certificates of the webhooks, and the memory usage with large stacks.
package webhook
