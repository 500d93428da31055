// Package node sets up the cluster's one node: what it needs of the machine,
// its namespaces and the link to them, the settings of containerd, the kubelet
// and kube-proxy, and the pods without which a cluster is none.
package node
