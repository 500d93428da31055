// Package doctor checks an installation of the operator. It examines facts that were read from the cluster: the
// definition of the kind, the operator's Deployment, webhooks, permissions and configuration, the permissions of the
// caller, and the stacks.
package doctor
