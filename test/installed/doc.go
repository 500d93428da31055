// Package installed installs the operator in each supported way, with the real kubectl on a real control plane, and
// runs the operator binary as the Deployment specifies: with its arguments and environment variables, and with a token
// for its ServiceAccount. After each installation, the operator must reconcile a stack with every kind of child, and
// the API server must not deny any request from the operator. The test must be able to remove the installation
// completely.
package installed
