package main

import (
	"fmt"
	"regexp"
	"slices"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// starter is the distribution whose variables the pages show.
const starter = "starter"

// variables holds the variables that a distribution's configuration reads for each provider type. The outer key is the
// API and the type, and the inner key is the configuration key of the provider.
type variables map[[2]string]map[string][]string

var variable = regexp.MustCompile(`\$\{env\.([A-Za-z_][A-Za-z0-9_]*)`)

// starterVariables returns the variables that the configuration of starter reads for the keys of each type.
func starterVariables(rel *release.Release) (variables, error) {
	found := variables{}
	distribution, ok := rel.Distribution(starter)
	if !ok {
		return found, nil
	}
	text := []byte(distribution.YAML)
	var config struct {
		Providers map[string][]struct {
			Type   string               `yaml:"provider_type"`
			Config map[string]yaml.Node `yaml:"config"`
		} `yaml:"providers"`
	}
	if err := yaml.Unmarshal(text, &config); err != nil {
		return nil, fmt.Errorf("distribution %s: %w", starter, err)
	}
	for api, providers := range config.Providers {
		for _, provider := range providers {
			of := [2]string{draft.APIField(api), provider.Type}
			if found[of] == nil {
				found[of] = map[string][]string{}
			}
			for name, node := range provider.Config {
				found[of][name] = appendVariables(found[of][name], &node)
			}
		}
	}
	return found, nil
}

// appendVariables appends the variables in a value. It appends each variable only once.
func appendVariables(names []string, node *yaml.Node) []string {
	for _, match := range variable.FindAllStringSubmatch(node.Value, -1) {
		if !slices.Contains(names, match[1]) {
			names = append(names, match[1])
		}
	}
	for _, child := range node.Content {
		names = appendVariables(names, child)
	}
	return names
}
