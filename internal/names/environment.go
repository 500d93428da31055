package names

import "strings"

// EnvPrefix begins every environment variable that carries a Secret's value.
const EnvPrefix = "LLSD_"

// EnvOperatorPrefix begins the operator's own variables, which are the same for every release.
const EnvOperatorPrefix = "LLS_"

// Variables of the server's container beside those of the server's release.
const (
	// EnvModelCache is where models are downloaded to.
	EnvModelCache = "HF_HOME"
	// EnvHome moves what the server writes below its home directory to the data volume.
	EnvHome = "HOME"
	// EnvConfig is the path of the configuration, as users' own commands know it.
	EnvConfig = "LLAMA_STACK_CONFIG"
	// EnvRunConfig is the path of the configuration that the image's entrypoint reads.
	EnvRunConfig = "RUN_CONFIG_PATH"
	// EnvCABundle is where OpenSSL, and so Python's ssl and httpx, find what to trust.
	EnvCABundle = "SSL_CERT_FILE"
	// EnvRequestsCABundle is the same for the library requests.
	EnvRequestsCABundle = "REQUESTS_CA_BUNDLE"
	// EnvAWSCABundle is the same for the clients of AWS.
	EnvAWSCABundle = "AWS_CA_BUNDLE"
	// EnvPort is the port, as users' own commands know it.
	EnvPort = "LLS_PORT"
	// EnvWorkers is the number of server processes, as users' own commands know it.
	EnvWorkers = "LLS_WORKERS"
	// EnvRegistry is the namespace of the server's registry in a store that several stacks may use. The generated
	// configuration has the stack's own as the default.
	EnvRegistry = "LLS_REGISTRY"
	// EnvGeneration is the generation of the stack that the pod was made for, behind the UID of the stack and a slash.
	EnvGeneration = "LLS_GENERATION"
	// EnvPythonPath is where Python looks for packages before those of the image.
	EnvPythonPath = "PYTHONPATH"
	// EnvUserPythonPath has the value of a PYTHONPATH that the user takes from somewhere, where the operator puts a
	// directory before it.
	EnvUserPythonPath = "LLS_PYTHONPATH"
	// EnvPreflight marks a pod in which a change is tried.
	EnvPreflight = "LLS_PREFLIGHT"
)

// Fields of EnvVar for values that have a field of their own in the spec; any
// other secret's field is the provider's configuration key.
const (
	FieldAPIKey           = "api_key"
	FieldPassword         = "password"
	FieldConnectionString = "connection_string"
)

// EnvVar is the variable that carries a provider's secret field (FR-022,
// FR-032): LLSD_<PROVIDER_ID>_<FIELD>, upper case, every other character an
// underscore. Two fields may fold to one name; the engine refuses that.
func EnvVar(provider, field string) string {
	return EnvPrefix + fold(provider) + "_" + fold(field)
}

func fold(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z':
			return r - 'a' + 'A'
		case r >= 'A' && r <= 'Z', r >= '0' && r <= '9':
			return r
		default:
			return '_'
		}
	}, s)
}
