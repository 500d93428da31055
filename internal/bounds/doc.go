// Package bounds holds stacks to what an administrator lets the stacks of a namespace use: images, ServiceAccounts, the
// node they run on, host names, and how many there may be. The operator's ConfigMap has the rules under its key
// "bounds"; see internal/operatorconfig for how they are read. A stack that is beyond a bound is not rolled out, and what
// runs of it stays as it is.
package bounds
