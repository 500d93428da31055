// Package resources is the step of package stackconfig that registers the user's models, tools and shields, and assigns
// each to a provider.
package resources
