// Package convert implements the command convert. It converts manifests between the API versions of stacks, and
// manifests of OGXServer objects to stacks.
package convert
