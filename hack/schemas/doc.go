// Command schemas writes JSON Schemas of LlamaStackDistribution for editors: one for each version, from the
// CustomResourceDefinition, and one of v1alpha2 for each server release, with the provider types of the release and the
// keys of their settings. The schemas are draft-07, which yaml-language-server reads.
package main
