// Package certificate manages the certificate that makes the API server trust the operator's webhooks. It makes a
// certificate authority and a serving certificate in a Secret that all replicas share, renews both, serves the current
// certificate, and injects every authority that clients must trust into the CustomResourceDefinition and the
// ValidatingWebhookConfiguration. It runs in every replica, not only in the leader, and does not use the manager's
// caches, because the caches cannot be filled before stored objects of older versions are converted (decision 0021).
package certificate
