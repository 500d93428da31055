// Package installation reads and checks an installation of the operator. It examines facts from the cluster: the API
// server's version, the definition of the kind, the operator's Deployments, leases, webhooks, certificate, admission
// policy, permissions and configuration, the caller's permissions, and the stacks.
package installation
