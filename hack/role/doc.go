// Command role converts the operator's ClusterRole, which controller-gen generates from the markers in the code, to the
// Role that the operator has in each namespace when it is limited to some namespaces. The Role omits the rules for
// cluster-scoped objects, which a Role cannot grant, and the verbs that only a cluster-wide operator needs.
package main
