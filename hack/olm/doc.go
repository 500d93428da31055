// Command olm writes the files with which the Operator Lifecycle Manager (OLM) installs the operator: a bundle and a
// file-based catalog, each with a Dockerfile for its image. The objects come from the manifest of config/default, and
// the texts from clusterserviceversion.yaml.
//
//	olm -version v0.10.0 [-manifest dist/install.yaml] [-image REPOSITORY] [-replaces NAME] FOLDER
//
// OLM makes the certificate of the webhooks, mounts it, and registers the webhooks itself, because only OLM knows the
// namespace. It cannot install the ValidatingAdmissionPolicy: the webhook and the operator make the same checks.
package main
