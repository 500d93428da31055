// Package doctor judges an installation of the operator by what was read from its cluster: the definition of the kind,
// the operator's Deployment, its webhooks, rights and configuration, the rights of the caller, and the stacks.
package doctor
