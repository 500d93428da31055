package names

import "strings"

// EnvPrefix is the prefix of the environment variables that hold secret values for providers and storage.
const EnvPrefix = "LLSD_"

// EnvOperatorPrefix is the prefix of the operator's own variables, which are the same for every release of the server.
const EnvOperatorPrefix = "LLS_"

// These are variables of the server's container, in addition to the variables that the server's release reads.
const (
	// EnvModelCache is the directory for downloaded models.
	EnvModelCache = "HF_HOME"
	// EnvHome is the home directory. The operator sets it to the mount path of the data volume, except in v1alpha1
	// stacks, so that the volume contains the files that the server writes below its home directory.
	EnvHome = "HOME"
	// EnvConfig is the path of the configuration, for users' own commands.
	EnvConfig = "LLAMA_STACK_CONFIG"
	// EnvRunConfig is the path of the configuration that the image's entrypoint reads.
	EnvRunConfig = "RUN_CONFIG_PATH"
	// EnvCABundle is the file with the certificate authorities for OpenSSL, and therefore for Python's ssl and httpx.
	EnvCABundle = "SSL_CERT_FILE"
	// EnvRequestsCABundle is the same file for the requests library.
	EnvRequestsCABundle = "REQUESTS_CA_BUNDLE"
	// EnvAWSCABundle is the same file for the AWS clients.
	EnvAWSCABundle = "AWS_CA_BUNDLE"
	// EnvPort is the port, for users' own commands.
	EnvPort = "LLS_PORT"
	// EnvWorkers is the number of server processes, for users' own commands.
	EnvWorkers = "LLS_WORKERS"
	// EnvRegistry is the namespace of the server's registry in a store that several stacks can use. In the generated
	// configuration, the default is a registry namespace that contains the stack's Kubernetes namespace and name.
	EnvRegistry = "LLS_REGISTRY"
	// EnvGeneration is the UID of the stack, a slash, and the stack generation for which the pod was created.
	EnvGeneration = "LLS_GENERATION"
	// EnvPythonPath lists the directories that Python searches for packages before it searches the directories of the
	// image.
	EnvPythonPath = "PYTHONPATH"
	// EnvUserPythonPath holds the user's PYTHONPATH if the user sets it with valueFrom and the operator adds a directory
	// to it.
	EnvUserPythonPath = "LLS_PYTHONPATH"
	// EnvPreflight marks a pod in which a change is tested.
	EnvPreflight = "LLS_PREFLIGHT"
)

// These are the field arguments of EnvVar for secrets that have a separate field in the spec. For any other secret, the
// argument is the key in the provider's configuration.
const (
	FieldAPIKey           = "api_key"
	FieldPassword         = "password"
	FieldConnectionString = "connection_string"
)

// EnvVar returns the variable that holds a provider's secret field (FR-022, FR-032): LLSD_<PROVIDER_ID>_<FIELD>, in
// upper case, with an underscore in place of every character that is not an ASCII letter or digit. If two fields result
// in the same name, but refer to different Secrets or keys, package intent reports an error.
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
