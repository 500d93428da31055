// Command schemas writes JSON Schemas of LlamaStackDistribution for editors: one for each version, from the
// CustomResourceDefinition, and one of v1alpha2 for each release line of the server that users may request. The schema
// of a release line has its provider types and the keys of their settings. The schemas are draft-07, which
// yaml-language-server reads.
package main
