// Package airgap shows the whole journey from a bundle to an answer of a model, on a node of this machine that has no
// way out. The images come only from a private registry with a private authority and a password. The commands and their
// output are recorded as users see them. The test has the build tag airgap, see make test-airgap.
package airgap
