// Package observe records in the status of a stack what its running server responds: its release, its providers and its
// models, and the progress of external providers.
package observe
