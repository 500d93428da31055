// Package docs holds what the project writes for people against the project: every requirement number has its row and
// its tests, links lead somewhere, commands and options exist, examples are valid, conditions and fields without effect
// are those of the code, and versions of Kubernetes those that are tested.
package docs
