// Package airgap tests all steps from a bundle to an answer of a model, on a node of this machine that has no route to
// the internet. The images come only from a private registry with a private authority and a password. The test records
// the commands and their output as users see them. The test has the build tag airgap, see make test-airgap.
package airgap
