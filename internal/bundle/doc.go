// Package bundle writes and reads what an installation without a way out is made from: one tar archive that is an OCI layout
// of images, and has the manifests, the chart, samples and the command line beside them. The same content gives the same
// bytes. Nothing of an archive is trusted: what is read is bounded, and every blob is compared with its digest before a
// registry has it.
package bundle
