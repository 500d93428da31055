// Package probe asks running servers for their version, their providers, their models and their MCP servers. It does so
// outside the reconcile path, a few servers at a time, and only through the Service of a stack. A server is asked once
// for each roll-out. A server that reports the health of its providers is asked for that again every few minutes. A
// server that does not answer is asked less and less often. Of an answer, only words of a known form are kept: no
// configuration and no free text.
package probe
