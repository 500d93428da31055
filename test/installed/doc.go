// Package installed installs the operator in each way that there is, with the real kubectl on a real control plane, and
// runs its program as the Deployment says: with its arguments, its variables and the token of its ServiceAccount. Each
// has to bring a stack with every kind of child to what was asked for, to be refused nothing, and to go away whole.
package installed
