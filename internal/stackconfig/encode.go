package stackconfig

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/secretvalue"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// finish writes the configuration down: header, YAML, hash. Nil with errors.
func (d *draft) finish() *Result {
	d.tellMore()
	if len(d.report.Errors) > 0 {
		return nil
	}
	config := encode(d.root, d.header())
	sum := sha256.Sum256(config)
	slices.SortFunc(d.env, func(a, b EnvVar) int { return strings.Compare(a.Name, b.Name) })
	slices.SortFunc(d.derived, func(a, b secretvalue.Derived) int { return strings.Compare(a.Key, b.Key) })
	return &Result{
		Config:        config,
		Hash:          hex.EncodeToString(sum[:]),
		Env:           d.env,
		Derived:       d.derived,
		Directories:   d.dirs,
		Registry:      d.registry,
		Models:        d.models,
		ProviderCount: d.providerCount(),
		ResourceCount: d.resourceCount(),
		ServesTLS:     servesTLS(d.root),
		ConfigVersion: d.version,
	}
}

// header says what the file is. Nothing in it changes with an upgrade of the
// operator, with time, or with the digest of an image: it would restart the pods.
func (d *draft) header() string {
	what := d.in.Distribution.Name
	if what == "" {
		what, _, _ = strings.Cut(d.in.Distribution.Image, "@")
	}
	line := d.rel.Line
	if d.unknown {
		line = "not known, configured as " + line
	}
	return fmt.Sprintf("# LlamaStackDistribution: %s\n# Distribution: %s\n# Server release: %s\n"+
		"# Generated. Change the LlamaStackDistribution, not this file.\n", oneLine(d.in.Name), oneLine(what), line)
}

// oneLine keeps a comment a comment, whatever a name holds.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, text)
}

func encode(root *yaml.Node, header string) []byte {
	return append([]byte(header), yamlnode.Encode(root)...)
}

func (d *draft) providerCount() int {
	count := 0
	for _, e := range d.index.entries {
		if e.enabled {
			count++
		}
	}
	return count
}

// resourceCount counts what is registered without a condition that the spec does
// not meet.
func (d *draft) resourceCount() int {
	count := 0
	for _, known := range d.rel.Resources() {
		if known.Dropped {
			continue
		}
		for _, item := range yamlnode.Items(d.existing(known)) {
			if d.registered(known, item) {
				count++
			}
		}
	}
	return count
}
