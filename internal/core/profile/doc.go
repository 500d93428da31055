// Package profile lists what the operator does differently for a stack that was created as v1alpha1.
package profile
