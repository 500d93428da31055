// Package cli implements the commands of kubectl-llamastack. The commands for manifests read files, run the same
// pipeline as the controller (package plan) and print the result. The commands for clusters read stacks and their
// objects from the API server. The commands for images read and label images.
package cli
