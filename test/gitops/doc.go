// Package gitops checks the health that two GitOps tools report for stacks: Flux, which uses kstatus, and Argo CD,
// which uses the health check in docs/how-to/gitops.md.
package gitops
