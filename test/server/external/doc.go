// Package external creates the files that an image with an external provider contains below /lls-provider: the metadata
// file and wheels. A test can add defects to these files. The tests of this package run the program in
// internal/core/startup that installs such providers, with the Python of real releases. The tests in test/server/boot
// start the servers with the installed providers.
//
// The configuration of a release has an entry {provider_id, provider_type, module} for each external provider. The
// table below describes how the releases use the entry. Its source is the code of 0.3.5, 0.7.3 and 1.5.0
// (core/distribution.py, get_external_providers_from_module; core/resolver.py, instantiate_provider), and
// TestHowReleasesLoad checks it for every release. All three releases do the same:
//
//	module          The text before "==" is the name of a package. The server imports the module "provider" of the
//	                package (module + ".provider"), and never uses the package's own attributes. It calls
//	                get_provider_spec() without arguments. If the package has no such module, or if the module imports
//	                another module that is missing, the server exits with "get_provider_spec not found ...". It also
//	                exits after any other error.
//	the spec        The function returns one ProviderSpec or, since 0.3, a list. The server uses those specs of the list
//	                that have the provider_type of the entry. If there is none, the provider "is not available for
//	                API". If the function returns one spec and no list, the server accepts any provider_type in the
//	                spec, and uses the provider_type of the entry instead. /v1/providers shows the provider_type of the
//	                entry.
//	provider_type   The entry is in the section of an API. The type is the key in the server's list of kinds of
//	                providers for this API. If the server itself has a kind with this type, the external provider
//	                replaces it for every entry of the type.
//	the API         The server looks for the type in the list of the API of the section. The API of the spec determines
//	                the methods that the provider must implement.
//	code            The server imports the "module" of the spec, and calls its get_adapter_impl (RemoteProviderSpec) or
//	                get_provider_impl (InlineProviderSpec) with (config, deps). The server reads the config of the
//	                entry into config_class.
//
// Therefore, the program copies packageName from the metadata file into the configuration in every release, and the
// package must contain a module with the name provider. If get_provider_spec is only in the package itself, the program
// writes the module provider.
package external
