package externalprovider

// Package is the metadata of an external provider's package.
type Package struct {
	// Name, Version and Vendor identify the package.
	Name, Version, Vendor string
	// API is the server's name for the API that the provider implements, for example vector_io.
	API string
	// Type is the provider's type, for example remote::custom-vllm.
	Type string
	// Module is the Python module that the server imports, for example my_org.custom_vllm (server fact 68).
	Module string
	// Wheel is the path of the package's wheel below /lls-provider, and DependencyWheels are the paths of its
	// dependencies' wheels. If the file does not list dependencies, the last init container also installs all wheels in
	// /lls-provider/packages.
	Wheel            string
	DependencyWheels []string
	// ConfigSchema is the JSON Schema of the provider's configuration, from spec.configSchema in the file. It contains
	// values of the types nil, bool, int, float64, string, []any and map[string]any. A nil ConfigSchema means that the
	// package has no schema.
	ConfigSchema map[string]any
}

// UnknownType is the provider type in a configuration if the metadata of the provider's image could not be read. No
// server accepts this type. The last init container replaces it with the type in the image.
const UnknownType = "external::unknown"
