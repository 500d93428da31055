// Package environment knows the variables of the server's container: whether it has those that Kubernetes derives from
// Services, and which of the user's variables are probably mistakes.
package environment
