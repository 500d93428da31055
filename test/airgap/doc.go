// Package airgap tests all steps from creating a bundle to getting an answer from a model, on a node that runs on this
// machine and has no route to the internet. All images come from a private registry that uses a private certificate
// authority and requires a password. The test records the commands and their output as users see them. It has the build
// tag airgap; `make test-airgap` runs it.
package airgap
