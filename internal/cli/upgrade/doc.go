// Package upgrade answers what another server release means for a stack, from the plans for both releases: first what
// needs action, then what becomes of the data, then what changes for clients. Changes that no field
// of the spec causes are counted, and listed on request.
package upgrade
