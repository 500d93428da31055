// Package bounds enforces the bounds that an administrator sets for the stacks in a namespace. The bounds limit images,
// ServiceAccounts, pod templates, commands, access to the node, host names, Ingress classes, Ingress annotations, and
// the number of stacks. The rules are in the key "bounds" of the operator's ConfigMap, which package operatorconfig
// reads. The operator does not roll out a stack that violates a bound, and the running pods of the stack do not change.
package bounds
