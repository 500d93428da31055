// Command role converts the operator's ClusterRole, which controller-gen generates from the markers in the code, to a
// Role. If the operator is limited to some namespaces, it has this Role in each of them. The Role omits the rules for
// cluster-scoped objects, which a Role cannot grant, and the verbs that only a cluster-wide operator needs.
package main
