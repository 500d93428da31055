// Command role converts the operator's ClusterRole to a Role. controller-gen generates the ClusterRole from the markers
// in the code. If the operator is limited to some namespaces, it has this Role in each of them. The Role omits the
// rules for cluster-scoped objects, which a Role cannot grant, and the verbs that only a cluster-wide operator needs.
package main
