// Package providers is the step of package stackconfig that writes the user's providers into the configuration, each
// with its endpoint, credential, secrets and settings under the keys that its type reads in the release.
package providers
