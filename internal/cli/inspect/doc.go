// Package inspect reads the objects of one stack from a cluster. It reads them at the same time, so that a report takes
// about as long as one request, and it states which of them the caller has no right to read.
package inspect
