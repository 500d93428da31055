// Package node sets up the cluster's node: the requirements on the machine, its namespaces and the link to them, the
// settings of containerd, the kubelet and kube-proxy, and the pods that every cluster needs.
package node
