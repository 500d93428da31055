package release

import (
	"bytes"
	"fmt"
	"strings"
	"sync"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/provider"
)

// Distribution is a config that a release ships in its package.
type Distribution struct {
	// Name is the distribution's name, for example `starter`, or `starter/run-with-postgres-store` for a variant.
	Name string
	// Last is the line's last release that ships the config (`0.2.14` for remote-vllm). Empty means that the line's newest
	// release ships it.
	Last string
	// Variables are the environment variables that the config reads, sorted by name.
	Variables []Variable
	// PathVariables are the variables whose default is below the server's data directory, sorted by name.
	PathVariables []PathVariable

	yaml func() ([]byte, error)
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
	Name string
	// Default is the directory of the data while the variable is unset, for example `~/.llama/distributions/starter`.
	Default string
	// Rest is the part of Default below the server's data directory, for example `distributions/starter`.
	Rest string
}

// YAML returns the config that the release ships, with the same keys, values and order, but in the operator's layout.
// The bytes are shared. Do not change them.
func (d *Distribution) YAML() ([]byte, error) { return d.yaml() }

// newDistribution returns a distribution. Its config is encoded once, on first use.
func newDistribution(name string, variables []Variable, dataDir string, config []byte) *Distribution {
	return &Distribution{
		Name:          name,
		Variables:     variables,
		PathVariables: pathVariables(variables, dataDir),
		yaml:          sync.OnceValues(func() ([]byte, error) { return writeConfig(name, config) }),
	}
}

func writeConfig(name string, data []byte) ([]byte, error) {
	config, err := provider.DecodeOrdered(data)
	if err != nil {
		return nil, fmt.Errorf("read the config of distribution %q: %w", name, err)
	}
	var out bytes.Buffer
	enc := yaml.NewEncoder(&out)
	enc.SetIndent(2)
	if err := enc.Encode(provider.Node(config)); err != nil {
		return nil, fmt.Errorf("write the config of distribution %q: %w", name, err)
	}
	if err := enc.Close(); err != nil {
		return nil, fmt.Errorf("write the config of distribution %q: %w", name, err)
	}
	return out.Bytes(), nil
}

// pathVariables returns the variables whose default is below the data directory.
func pathVariables(variables []Variable, dataDir string) []PathVariable {
	var out []PathVariable
	for _, v := range variables {
		for _, value := range v.Defaults {
			if rest, ok := strings.CutPrefix(value, dataDir+"/"); ok {
				out = append(out, PathVariable{Name: v.Name, Default: value, Rest: rest})
				break
			}
		}
	}
	return out
}
