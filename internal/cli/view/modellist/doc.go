// Package modellist reads from the configuration of a server which models it registers, with their public ids.
package modellist
