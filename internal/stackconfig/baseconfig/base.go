package baseconfig

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/utils/lru"

	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// MaxSize is the size of the largest base in bytes: what fits into a
// ConfigMap with room for its metadata.
const MaxSize = 768 << 10

// Base is the configuration that a distribution comes with. It is never changed.
type Base struct {
	root    *yaml.Node
	version string
}

// The schema versions of a configuration that are supported (FR-028), and the
// one that a configuration without a version has.
var supportedVersions = []string{"1", "2"}

const defaultVersion = "2"

// UnsupportedVersionError is a base of a schema version that is not supported
// (FR-029).
type UnsupportedVersionError struct{ Version string }

// Error lists the versions that are supported.
func (e *UnsupportedVersionError) Error() string {
	return fmt.Sprintf("Unsupported config.yaml version %s. Supported versions: %s",
		e.Version, strings.Join(supportedVersions, ", "))
}

// Parse reads a base configuration. Aliases and merge keys are expanded,
// comments are left out; order, unknown keys and the spelling of scalars stay.
// Errors carry the position; no input makes it panic.
func Parse(data []byte) (*Base, error) {
	digest := sha256.Sum256(data)
	if base, ok := parsed.Get(digest); ok {
		return base.(*Base), nil //nolint:forcetypeassert // nothing else is put into it
	}
	base, err := ParseUncached(data)
	if err == nil && len(data) <= maxKeptBase {
		parsed.Add(digest, base)
	}
	return base, err
}

// Root is the root of the configuration, not to be changed.
func (b *Base) Root() *yaml.Node { return b.root }

// Version is the schema version of the configuration.
func (b *Base) Version() string { return b.version }

// parsed are the bases that were read last, by digest: most stacks come from the
// same few, and to read one takes longer than to make a configuration of it.
var parsed = lru.New(16)

// maxKeptBase is the size of the largest base that is remembered, in bytes. The shipped ones have less than half of it. Nodes need a
// hundred times the bytes of a text, so that a few large bases would fill the operator's memory.
const maxKeptBase = 64 << 10

// ParseUncached is Parse for what is not read again: a generated configuration, say.
func ParseUncached(data []byte) (*Base, error) {
	if len(data) > MaxSize {
		return nil, fmt.Errorf("base config has %d bytes, more than the %d that a base may have", len(data), MaxSize)
	}
	root, err := Read(data)
	if err != nil {
		return nil, fmt.Errorf("base config: %w", err)
	}
	version, err := versionOf(root)
	if err != nil {
		return nil, err
	}
	if err := checkShape(root); err != nil {
		return nil, fmt.Errorf("base config: %w", err)
	}
	dropNull(root)
	return &Base{root: root, version: version}, nil
}

// Read reads any configuration, of a version and a shape that need not be known.
func Read(data []byte) (*yaml.Node, error) {
	document, err := decodeYAML(data)
	if err != nil {
		return nil, err
	}
	return normalize(document)
}

// decodeYAML reads exactly one document.
func decodeYAML(data []byte) (document *yaml.Node, err error) {
	// The parser is not ours and the input may come from a registry.
	defer func() {
		if r := recover(); r != nil {
			document, err = nil, errors.New("is not YAML")
		}
	}()
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	document = new(yaml.Node)
	if err := decoder.Decode(document); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, errors.New("is empty")
		}
		return nil, syntaxError(data, err)
	}
	if err := decoder.Decode(new(yaml.Node)); !errors.Is(err, io.EOF) {
		if err != nil {
			return nil, syntaxError(data, err)
		}
		return nil, errors.New("holds more than one YAML document")
	}
	return document.Content[0], nil
}

// syntaxError adds what people most often do wrong and cannot see.
func syntaxError(data []byte, err error) error {
	for i, line := range bytes.Split(data, []byte("\n")) {
		indent := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]
		if bytes.ContainsRune(indent, '\t') && len(indent) < len(line) {
			return fmt.Errorf("is not YAML: %w (line %d is indented with a tab, YAML wants spaces)", err, i+1)
		}
	}
	return fmt.Errorf("is not YAML: %w", err)
}

func versionOf(root *yaml.Node) (string, error) {
	node := yamlnode.Get(root, "version")
	if yamlnode.IsNull(node) {
		return defaultVersion, nil
	}
	if node.Kind != yaml.ScalarNode {
		return "", fmt.Errorf("base config: line %d: version must be a number, got %s", node.Line, KindOf(node))
	}
	return node.Value, CheckVersion(node.Value)
}

// CheckVersion returns an *UnsupportedVersionError for a schema version that is not supported.
func CheckVersion(version string) error {
	if !slices.Contains(supportedVersions, version) {
		return &UnsupportedVersionError{Version: version}
	}
	return nil
}
