// Package probe asks running servers for their version, away from the reconcile
// path: once for each roll-out, a few at a time, and only through the Service of
// a stack. Who cannot be asked is not asked for ever.
package probe
