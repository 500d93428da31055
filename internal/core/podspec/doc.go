// Package podspec checks the parts of a pod that users write, by the rules with which the API server checks a pod
// template. The API server would otherwise accept the stack and reject its Deployment. The package does not check
// parts that the operator sets, and it accepts what it does not know, such as a field of a newer Kubernetes.
package podspec
