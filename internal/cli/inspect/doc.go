// Package inspect reads the objects of one stack from a cluster. It reads them concurrently, so that a report takes
// about as long as one request. It reports the objects that the caller cannot read.
package inspect
