// Command role converts the operator's ClusterRole to a Role. controller-gen generates the ClusterRole from the markers
// in the code. If the operator is limited to some namespaces, it has this Role in each of them. The Role omits the
// rules for cluster-scoped objects, because a Role cannot grant access to them. It also omits the verbs that only a
// cluster-wide operator needs.
package main
