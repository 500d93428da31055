// Package modellist reads the models that a server registers, with their public IDs, from its configuration.
package modellist
