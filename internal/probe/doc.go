// Package probe asks running servers what they are: their version and their
// providers, away from the reconcile path, a few at a time, and only through the
// Service of a stack. A server is asked once for each roll-out; one that tells the
// health of its providers is asked for that again every few minutes. Who cannot
// be asked is asked less and less. Of what a server says only words of a known
// form are kept: no configuration, no free text.
package probe
