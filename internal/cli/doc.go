// Package cli builds the command kubectl-llamastack. Each subcommand has a folder with its name, and the folder app has
// what they share. The commands for manifests read files, run the same pipeline as the controller (package plan) and
// print the result. The commands for clusters read stacks and their objects from the API server. The commands for
// images read and label images.
package cli
