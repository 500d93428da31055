// Package gitops checks the health of stacks that two GitOps tools report: Flux, which uses kstatus, and Argo CD, with
// the health check in docs/how-to/gitops-argo-cd.md.
package gitops
