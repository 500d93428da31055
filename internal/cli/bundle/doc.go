// Package bundle implements the command bundle. It writes and reads the archive for an installation without internet
// access: a tar archive that is an OCI layout of images, with the manifests, the chart, the samples and kubectl-
// llamastack. Equal content produces identical archives. An archive is not trusted: reads are bounded, and every blob
// is compared with its digest before its upload to a registry is complete.
package bundle
