//go:build tools

// Package openshift pins the CustomResourceDefinitions by which the operator recognizes OpenShift. It is never compiled:
// its imports are what holds the module in go.mod.
package openshift

import (
	_ "github.com/openshift/api/route/v1"
	_ "github.com/openshift/api/security/v1"
)
