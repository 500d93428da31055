// Package mutation changes valid stacks at random, to compare the answers of an API server with those of the code.
package mutation
