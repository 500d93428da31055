package release

// Distribution is a config that a release ships in its package.
type Distribution struct {
	// Name is the distribution's name, for example `starter`, or `starter/run-with-postgres-store` for a variant.
	Name string `json:"name"`
	// Last is the line's last release that ships the config (`0.2.14` for remote-vllm). Empty means that the line's newest
	// release ships it.
	Last string `json:"last,omitempty"`
	// Variables are the environment variables that the config reads, sorted by name.
	Variables []Variable `json:"variables,omitempty"`
	// PathVariables are the variables whose default is below the server's data directory, sorted by name.
	PathVariables []PathVariable `json:"path_variables,omitempty"`

	// YAML is the config that the release ships, with the same keys, values and order, but in the operator's layout.
	YAML string `json:"yaml"`
}

// Variable is an environment variable that a shipped config reads.
type Variable struct {
	// Name is the variable's name, for example `VLLM_URL`.
	Name string `json:"name"`
	// Defaults are the different values that the config uses when the variable is unset, sorted, for example [""] for
	// `${env.VLLM_URL:=}`.
	Defaults []string `json:"defaults,omitempty"`
	// Enables are the strings that the config contains only when the variable is set, sorted, for example [vllm] for
	// `${env.VLLM_URL:+vllm}`.
	Enables []string `json:"enables,omitempty"`
	// Required reports whether the variable must be set for the server to start.
	Required bool `json:"required,omitempty"`
}

// PathVariable is a variable for the path of a data directory.
type PathVariable struct {
	// Name is the variable's name, for example `SQLITE_STORE_DIR`.
	Name string `json:"name"`
	// Default is the directory of the data while the variable is unset, for example `~/.llama/distributions/starter`.
	Default string `json:"default"`
	// Rest is the part of Default below the server's data directory, for example `distributions/starter`.
	Rest string `json:"rest"`
}
