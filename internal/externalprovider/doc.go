// Package externalprovider reads the metadata of a container image with an external provider: the file
// /lls-provider/lls-provider-spec.yaml, in the image or in a label of the image. The format is the one of spec 001,
// deploy-time providers. The package does no I/O.
package externalprovider
