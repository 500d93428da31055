// Package upgrade answers what another server release means for a stack, from the plans for both releases: first what
// needs action, then what becomes of the data, then what changes for clients. Changes that only the base configuration
// brings along are counted, and listed on request.
package upgrade
