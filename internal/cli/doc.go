// Package cli implements the commands of kubectl-llamastack, one file each. The commands for manifests read files, run
// the same pipeline as the controller (package plan) and print the result. The commands for clusters read stacks and
// their objects through the API server. The image commands read and label images.
package cli
