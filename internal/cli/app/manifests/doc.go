// Package manifests reads stacks, and the objects that they refer to, from files, folders and kustomizations. It also
// reads the facts about images and the operator that the user has in files.
package manifests
