// Package node runs the operator as users do, on a cluster with real nodes: installed from its manifest, as a container
// under Pod Security "restricted", with stacks whose pods start, crash, hang and are killed. What it needs comes from
// the environment: $KUBECONFIG, kubectl in $PATH, and $CLUSTER_REGISTRY, where it pushes its images and the nodes pull
// them. Build tag: node.
package node
