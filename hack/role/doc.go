// Command role converts the operator's ClusterRole, which controller-gen generates from the markers in the code, to the
// Role that the operator has in each namespace when it is limited to some namespaces. The Role has the same rules
// without those for cluster-scoped objects, which a Role cannot grant.
package main
