// Package installed installs the operator in each supported way, with the real kubectl on a real control plane, and
// runs its program as the Deployment specifies: with its arguments, its variables and the token of its ServiceAccount.
// Each installation has to reconcile a stack with every kind of child, must not be denied anything, and can be removed
// completely.
package installed
