// Package node sets up the cluster's node. It checks the requirements on the machine, creates the link to the node's
// namespaces, writes the settings of containerd, the kubelet and kube-proxy, and creates the pods that every cluster
// needs.
package node
