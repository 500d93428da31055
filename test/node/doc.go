// Package node tests the operator on a cluster with real nodes. The operator is installed from its manifest, and runs
// as a container under Pod Security "restricted". The stacks' pods start, crash, hang and are killed. The tests need
// $KUBECONFIG, kubectl in $PATH, and a registry to which they push images and from which the nodes pull them.
// $CLUSTER_REGISTRY is the address of this registry. The test files have the build tag node.
package node
