// Package external is the step of package stackconfig that writes the providers that have their own images into the
// configuration. They replace all other providers with the same API and ID. The metadata in the image (package
// externalprovider) contains the type and the module. Without metadata, the last init container of the pod adds both to
// the configuration.
package external
