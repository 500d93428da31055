// Package webhook runs the operator's program, as it is shipped and with the
// rights that it is shipped with, where the API server reaches its webhooks by
// their Service. It holds what users of v1alpha1 are promised: an upgrade, lists
// and edits in both versions, and the way back.
package webhook
