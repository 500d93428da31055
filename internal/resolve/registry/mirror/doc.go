// Package mirror says where an image is read in a cluster whose mirror sets put other places before its own: OpenShift's
// ImageDigestMirrorSet, ImageTagMirrorSet and ImageContentSourcePolicy, by the rules of its nodes.
package mirror
