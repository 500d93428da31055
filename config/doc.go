// Package config contains the manifests of the operator. The code uses two of them: the command line checks files with
// the definition and the policy that an API server uses.
package config
