// Package servicelinks decides whether pods have the variables that Kubernetes derives from Services.
package servicelinks
