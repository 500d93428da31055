// Package modellist reads which models a server serves, from its configuration and from its answer to /v1/models.
package modellist
