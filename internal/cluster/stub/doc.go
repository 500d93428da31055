// Package stub bounds what a cache holds of the children of stacks. Anyone who may write objects of these kinds can set
// labels, and can make labels, annotations, owner references, finalizers and specs long. Reduce therefore replaces an
// object by a stub with its identity, unless the object has the owner and the name of a child and is small. Reader
// reads the whole object from the API server when a caller needs it.
package stub
