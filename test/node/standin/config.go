package main

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// config is the part of the server's configuration that the stand-in reads. References to environment variables are
// resolved.
type config struct {
	Providers map[string][]provider `yaml:"providers"`
	Resources struct {
		Models []map[string]any `yaml:"models"`
	} `yaml:"registered_resources"`
	Connectors []map[string]any `yaml:"connectors"`
	Server     serverConfig     `yaml:"server"`
}

type provider struct {
	ID     string         `yaml:"provider_id"`
	Type   string         `yaml:"provider_type"`
	Config map[string]any `yaml:"config"`
}

type serverConfig struct {
	Port        string `yaml:"port"`
	Certificate string `yaml:"tls_certfile"`
	Key         string `yaml:"tls_keyfile"`
}

// disabled is the ID of a provider that a real server ignores.
const disabled = "__disabled__"

// readConfig reads a configuration. It returns an error in the cases in which a real server fails: for an unreadable
// file, for invalid YAML, and for an unset variable without a default.
func readConfig(path string, getenv func(string) string) (*config, error) {
	content, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	var document yaml.Node
	if err := yaml.Unmarshal(content, &document); err != nil {
		return nil, fmt.Errorf("parse configuration %q: %w", path, err)
	}
	if err := resolve(&document, getenv); err != nil {
		return nil, err
	}
	var c config
	if err := document.Decode(&c); err != nil {
		return nil, fmt.Errorf("read configuration %q: %w", path, err)
	}
	for api, entries := range c.Providers {
		kept := entries[:0]
		for _, p := range entries {
			if p.ID != "" && p.ID != disabled {
				kept = append(kept, p)
			}
		}
		c.Providers[api] = kept
	}
	return &c, nil
}

// reference matches a reference to an environment variable in a configuration: ${env.NAME}, ${env.NAME:=default} or
// ${env.NAME:+value}.
var reference = regexp.MustCompile(`\$\{env\.([A-Za-z0-9_]+)(?::([=+])([^}]*))?\}`)

// resolve replaces references with their values. It parses each value as YAML, so that 8321 becomes a number.
func resolve(node *yaml.Node, getenv func(string) string) error {
	if node.Kind == yaml.ScalarNode && reference.MatchString(node.Value) {
		var unset string
		node.Value = reference.ReplaceAllStringFunc(node.Value, func(text string) string {
			match := reference.FindStringSubmatch(text)
			value := getenv(match[1])
			switch {
			case match[2] == "=" && value == "":
				return match[3]
			case match[2] == "+" && value != "":
				return match[3]
			case match[2] == "+":
				return ""
			case value == "":
				unset = match[1]
			}
			return value
		})
		if unset != "" {
			return fmt.Errorf("environment variable %q not set or empty (line %d of the configuration)", unset, node.Line)
		}
		node.Tag, node.Style = "", 0
	}
	for _, child := range node.Content {
		if err := resolve(child, getenv); err != nil {
			return err
		}
	}
	return nil
}

// secretKey matches the keys of credentials. The stand-in does not show their values.
var secretKey = regexp.MustCompile(`api_key|token|password|secret`)

const redacted = "********"

// shown returns a value without credentials.
func shown(value any) any {
	switch value := value.(type) {
	case map[string]any:
		visible := map[string]any{}
		for key, inner := range value {
			if text, ok := inner.(string); ok && text != "" && secretKey.MatchString(key) {
				inner = redacted
			}
			visible[key] = shown(inner)
		}
		return visible
	case []any:
		visible := make([]any, len(value))
		for i, inner := range value {
			visible[i] = shown(inner)
		}
		return visible
	default:
		return value
	}
}

func (c *config) providers() []any {
	entries := []any{}
	for _, api := range slices.Sorted(maps.Keys(c.Providers)) {
		for _, p := range c.Providers[api] {
			entries = append(entries, map[string]any{
				"api": api, "provider_id": p.ID, "provider_type": p.Type, "config": shown(p.Config),
				"health": map[string]any{"status": "Not Implemented", "message": "Provider does not implement health check"},
			})
		}
	}
	return entries
}

func (c *config) provider(api, id string) *provider {
	for i := range c.Providers[api] {
		if c.Providers[api][i].ID == id {
			return &c.Providers[api][i]
		}
	}
	return nil
}

func (c *config) models() []any {
	entries := []any{}
	for _, model := range c.Resources.Models {
		id := fmt.Sprintf("%v/%v", model["provider_id"], model["model_id"])
		facts := maps.Clone(model)
		facts["provider_resource_id"] = cmp.Or(model["provider_model_id"], model["model_id"])
		entries = append(entries, map[string]any{
			"id": id, "object": "model", "created": 1, "owned_by": "standin",
			"custom_metadata": facts,
		})
	}
	return entries
}

// text returns the value of the first key whose value is a non-empty string.
func (p *provider) text(keys ...string) string {
	for _, key := range keys {
		if value, ok := p.Config[key].(string); ok && value != "" {
			return value
		}
	}
	return ""
}

func (p *provider) url() string { return strings.TrimSuffix(p.text("base_url", "url"), "/") }

func (p *provider) token() string { return p.text("api_token", "api_key") }
