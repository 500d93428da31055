// Package bounds enforces what an administrator allows the stacks of a namespace: images, ServiceAccounts, access to
// the node, host names, and the number of stacks. The rules are in the key "bounds" of the operator's ConfigMap; see
// internal/operatorconfig for how they are read. A stack that violates a bound is not rolled out, and its running pods
// do not change.
package bounds
