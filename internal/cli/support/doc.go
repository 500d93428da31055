// Package support implements the command support-bundle. It creates an archive from objects and logs in a cluster. The
// archive contains no secrets; see package redact. Its size is limited, and equal content gives identical archives.
package support
