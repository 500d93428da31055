// Package external makes the files of an image with an external provider below /lls-provider: the metadata file and
// wheels, made by hand and with the defects that a test needs. Its own tests run the program in internal/startup that
// installs such providers, with the Python of real releases. Those in test/server/boot start the servers with the
// installed providers.
//
// How the releases use the entry of an external provider in their configuration, {provider_id, provider_type, module}.
// This was read in the packages of 0.3.5, 0.7.3 and 1.5.0 (core/distribution.py, get_external_providers_from_module;
// core/resolver.py, instantiate_provider), and TestHowReleasesLoad checks it for every release. All three do the same:
//
//	module          The text before "==" is a package. The server imports its module "provider" (module + ".provider"),
//	                never the package's own attributes, and calls get_provider_spec() without arguments. No such module,
//	                or one that lacks another module when it is imported: "get_provider_spec not found ...", and the
//	                server ends. Any other error ends it too.
//	the spec        One ProviderSpec, or from 0.3 on a list. The server uses those of a list with the provider_type of
//	                the entry; when none has it, the provider "is not available for API". It uses a single one with any
//	                provider_type: the entry's is the one that counts, and that /v1/providers shows.
//	provider_type   It is the key in the server's list of kinds of provider, within the API of the section. A kind that
//	                the server has itself is replaced, for every entry of that type.
//	the API         The section's counts for the list of kinds, the spec's for what the provider has to implement.
//	code            The spec's own "module" is imported and its get_adapter_impl (RemoteProviderSpec) or
//	                get_provider_impl (InlineProviderSpec) is called with (config, deps); the entry's config goes
//	                through config_class.
//
// So packageName of the metadata file is copied into the configuration in every release, and the package has to have
// the module provider. The program writes that module where the package has get_provider_spec only in itself.
package external
