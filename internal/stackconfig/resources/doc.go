// Package resources is the step of the engine that registers the user's models, tools and shields, and assigns each to
// a provider.
package resources
