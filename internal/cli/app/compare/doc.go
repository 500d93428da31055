// Package compare reads the manifests of running stacks for a comparison. It also asks an API server whether it would
// accept the objects of a plan.
package compare
