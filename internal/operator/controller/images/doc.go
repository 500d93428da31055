// Package images finds out what the images of a stack contain: the image of the server, with the configuration and the
// release in its labels, and the images of external providers. It uses what earlier reconciles recorded, and otherwise
// reads the images in the background.
package images
