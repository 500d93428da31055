// Package externalprovider reads the metadata of a container image that contains an external provider: the file
// /lls-provider/lls-provider-spec.yaml, in the image or in a label of the image. Spec 001 (deploy-time providers)
// defines the format. The package does no I/O.
package externalprovider
