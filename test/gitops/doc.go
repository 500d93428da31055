// Package gitops checks the health of stacks in the tools that apply manifests from Git: Flux, which follows kstatus,
// and Argo CD, with the health check in docs/how-to/gitops-argo-cd.md.
package gitops
