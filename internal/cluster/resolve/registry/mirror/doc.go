// Package mirror determines the repositories from which to read an image in a cluster with mirror sets: OpenShift's
// ImageDigestMirrorSet, ImageTagMirrorSet and ImageContentSourcePolicy. It follows the rules of the cluster's nodes.
package mirror
