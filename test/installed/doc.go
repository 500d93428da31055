// Package installed installs the operator in each supported way, with the real kubectl on a real control plane, and
// runs its program as the Deployment specifies: with its arguments, its variables and the token of its ServiceAccount.
// Each installation must reconcile a stack with every kind of child without a rejected request, and the test must be
// able to remove the installation completely.
package installed
