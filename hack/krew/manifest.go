package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// program is the name of the plugin's executable. The executable in an archive has this name, with the suffix .exe in
// an archive for Windows.
const program = "kubectl-llamastack"

// plugin is the manifest of a plugin: https://krew.sigs.k8s.io/docs/developer-guide/plugin-manifest/.
type plugin struct {
	APIVersion string            `json:"apiVersion"`
	Kind       string            `json:"kind"`
	Metadata   map[string]string `json:"metadata"`
	Spec       pluginSpec        `json:"spec"`
}

type pluginSpec struct {
	Version          string     `json:"version"`
	Homepage         string     `json:"homepage"`
	ShortDescription string     `json:"shortDescription"`
	Description      string     `json:"description"`
	Platforms        []platform `json:"platforms"`
}

type platform struct {
	Selector selector `json:"selector"`
	URI      string   `json:"uri"`
	SHA256   string   `json:"sha256"`
	Bin      string   `json:"bin"`
}

type selector struct {
	MatchLabels map[string]string `json:"matchLabels"`
}

var (
	semantic = regexp.MustCompile(`^v\d+\.\d+\.\d+(-[0-9A-Za-z.-]+)?$`)
	sum      = regexp.MustCompile(`^([0-9a-f]{64}) [ *](?:.*/)?` + program + `-([a-z0-9]+)-([a-z0-9]+)\.tar\.gz$`)
)

// manifest returns the manifest for a release.
func manifest(version, base string, checksums []byte) ([]byte, error) {
	if !semantic.MatchString(version) {
		return nil, fmt.Errorf("-version: %q is not a version that krew accepts; set a version such as v1.2.3", version)
	}
	if parsed, err := url.Parse(base); err != nil || parsed.Scheme != "https" || parsed.Host == "" {
		return nil, fmt.Errorf("-url: %q is not an HTTPS URL; write a URL that begins with https://", base)
	}
	platforms, err := platformsOf(strings.TrimSuffix(base, "/"), checksums)
	if err != nil {
		return nil, err
	}
	data, err := yaml.Marshal(plugin{
		APIVersion: "krew.googlecontainertools.github.com/v1alpha2", Kind: "Plugin", Metadata: map[string]string{"name": "llamastack"},
		Spec: pluginSpec{
			Version: version, Homepage: "https://github.com/llamastack/llama-stack-k8s-operator",
			ShortDescription: "Write, check and operate Llama Stack servers",
			Description: `This plugin writes the first manifest of a LlamaStackDistribution, checks manifests
as the operator does, and renders the objects that the operator applies. In a
cluster, it shows the status of stacks, compares an edit with the running stack,
and sends questions to models. Other commands move stacks between releases and
versions, and label images.
`,
			Platforms: platforms,
		},
	})
	if err != nil {
		return nil, fmt.Errorf("encode manifest: %w", err)
	}
	return data, nil
}

// platformsOf returns the platform of each archive in the checksums.
func platformsOf(base string, checksums []byte) ([]platform, error) {
	var platforms []platform
	lines := bufio.NewScanner(bytes.NewReader(checksums))
	for lines.Scan() {
		match := sum.FindStringSubmatch(lines.Text())
		if match == nil {
			return nil, fmt.Errorf("-checksums: %q is not a line of sha256sum output for an archive %s-OS-ARCH.tar.gz; run this command with -pack to write the file", lines.Text(), program)
		}
		bin := program
		if match[2] == "windows" {
			bin += ".exe"
		}
		platforms = append(platforms, platform{
			Selector: selector{map[string]string{"os": match[2], "arch": match[3]}},
			URI:      fmt.Sprintf("%s/%s-%s-%s.tar.gz", base, program, match[2], match[3]), SHA256: match[1], Bin: bin,
		})
	}
	if len(platforms) == 0 {
		return nil, errors.New("-checksums: the file is empty; run this command with -pack first")
	}
	slices.SortFunc(platforms, func(a, b platform) int { return strings.Compare(a.URI, b.URI) })
	return platforms, nil
}
