// Command role makes of the operator's ClusterRole, which controller-gen writes from the markers in the code, the Role that
// it has in each namespace when it works in some only: the same rules without those of cluster-scoped objects, which no
// Role can give.
package main
