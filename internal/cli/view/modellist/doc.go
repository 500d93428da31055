// Package modellist reads the models that a server registers, with their public ids, from its configuration.
package modellist
