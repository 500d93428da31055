// Command bundle writes the archive that an installation without a way out is made from: the images that are asked for, from
// registries or OCI layouts, with manifests, chart, samples and command line. It is what make airgap-bundle runs.
//
//	bundle -output bundle.tar -operator REFERENCE[=SOURCE] [-platform linux/amd64] [-allow-missing] SERVER...
//
// A server is a distribution of the catalogue, as starter or starter@0.7.3, or the name of any image. SOURCE is where it is
// taken from when that is another place: an image in a registry, or oci:DIR[:TAG].
package main
