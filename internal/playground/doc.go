// Package playground returns the data that the playground page shows for a manifest: the configuration with the origin
// of each line, the objects, and the errors and warnings with their positions. It runs the same pipeline as the
// controller and the command line.
package playground
