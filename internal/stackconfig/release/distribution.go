package release

// Distribution is a config that a release ships inside its package.
type Distribution struct {
	// Name is its name: `starter`, or `starter/run-with-postgres-store` for a variant.
	Name string
	// Variables are the environment variables that the config reads, sorted by name.
	Variables []Variable
	// PathVariables are those whose default lies under the server's data directory, sorted by name.
	PathVariables []PathVariable

	config []byte
}

// Variable is an environment variable that a shipped config reads.
type Variable struct {
	// Name is the variable's name: `VLLM_URL`.
	Name string `json:"name"`
	// Defaults are the values used when it is unset, each form once, sorted: [""] for `${env.VLLM_URL:=}`.
	Defaults []string `json:"defaults,omitempty"`
	// Enables are the texts that stand in the config only when it is set, sorted: [vllm] for `${env.VLLM_URL:+vllm}`.
	Enables []string `json:"enables,omitempty"`
	// Required says that the server does not start while it is unset.
	Required bool `json:"required,omitempty"`
}

// PathVariable is a variable that names a directory for data.
type PathVariable struct {
	// Name is the variable's name: `SQLITE_STORE_DIR`.
	Name string
	// Default is where the data goes while it is unset: `~/.llama/distributions/starter`.
	Default string
	// Rest is Default below the server's data directory: `distributions/starter`.
	Rest string
}
