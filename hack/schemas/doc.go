// Command schemas writes the JSON Schemas that editors use for LlamaStackDistribution: one for each version, from the
// CustomResourceDefinition, and one v1alpha2 schema for each server release line that users can request. The schema for
// a release line contains its provider types and the keys of their settings. The schemas use draft-07, which
// yaml-language-server supports.
package main
