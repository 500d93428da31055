// Package certificate keeps the certificate by which the API server trusts the operator's webhooks. It makes a
// certificate authority and a serving certificate in a Secret that all replicas share, renews both, serves the current one,
// and puts the authorities into the CustomResourceDefinition and the ValidatingWebhookConfiguration. It works in every
// replica, leader or not, and without the manager's caches, which cannot be filled before stored objects of older versions
// are converted.
package certificate
