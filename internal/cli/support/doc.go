// Package support creates the archive for a support case from objects and logs in a cluster. The archive contains no
// secrets; see package redact. Its size is limited, and equal content gives identical archives.
package support
