// Package mirror determines where an image is read in a cluster with mirror sets: OpenShift's ImageDigestMirrorSet,
// ImageTagMirrorSet and ImageContentSourcePolicy. It follows the rules of the cluster's nodes.
package mirror
