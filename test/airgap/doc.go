// Package airgap shows the way of an installation from a bundle to an answer of a model, on a node of this machine's
// own that has no way out: the images come from a private registry with a private authority and a password alone. What
// is run and what it prints is written down as users see it. The test has the build tag airgap, see make test-airgap.
package airgap
