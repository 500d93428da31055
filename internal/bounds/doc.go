// Package bounds enforces the bounds that an administrator sets for the stacks of a namespace. They limit images,
// ServiceAccounts, access to the node, host names, and the number of stacks. The rules are in the key "bounds" of the
// operator's ConfigMap, which package operatorconfig reads. A stack that violates a bound is not rolled out, and its
// running pods do not change.
package bounds
