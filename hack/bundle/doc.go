// Command bundle writes the archive for an installation without internet access: the requested images, from registries
// or OCI layouts, with the manifests, the chart, the samples and kubectl-llamastack. The target airgap-bundle of the
// Makefile runs this command.
//
//	bundle -output bundle.tar -operator REFERENCE[=SOURCE] [-platform linux/amd64] [-allow-missing] SERVER[=SOURCE]...
//
// SERVER is a distribution in the catalog (for example, starter or starter@0.7.3), an image name that contains "/" or
// ":", or "all" for every image in the catalog. SOURCE is the location from which the command reads the image, if that
// location differs from the image's name: an image in a registry, or oci:DIR[:TAG].
package main
