// Package support builds the archive for a support case from what was read from a cluster. The archive has no secret:
// see package redact. Its size is bounded, and the same content gives the same bytes.
package support
