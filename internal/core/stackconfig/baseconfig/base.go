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

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// MaxSize is the maximum size of a base in bytes. A base of this size fits into a ConfigMap together with its metadata.
const MaxSize = 768 << 10

// Base is the configuration of a distribution. A Base is immutable.
type Base struct {
	root    *yaml.Node
	version string
}

// supportedVersions lists the supported schema versions of a configuration (FR-028).
var supportedVersions = []string{"1", "2"}

// defaultVersion is the schema version of a configuration that does not state one.
const defaultVersion = "2"

// UnsupportedVersionError reports a base with a schema version that is not supported (FR-029).
type UnsupportedVersionError struct{ Version string }

// Error returns a message that lists the supported versions.
func (e *UnsupportedVersionError) Error() string {
	return fmt.Sprintf("Unsupported config.yaml version %s. Supported versions: %s",
		e.Version, strings.Join(supportedVersions, ", "))
}

// Parse reads a base configuration. It expands aliases and merge keys, and removes null values that the server rejects.
// It keeps the order, unknown keys and the original text of scalars. An error about the YAML syntax or the structure
// contains the line number of the problem. No input makes Parse panic.
func Parse(data []byte) (*Base, error) {
	digest := sha256.Sum256(data)
	if base, ok := parsed.Get(digest); ok {
		return base.(*Base), nil //nolint:forcetypeassert // nothing else is put into it
	}
	base, err := ParseUncached(data)
	if left := maxKeptNodes; err == nil && len(data) <= maxKeptBase && fits(base.root, &left) {
		parsed.Add(digest, base)
	}
	return base, err
}

// Root returns the root of the configuration. Do not change it.
func (b *Base) Root() *yaml.Node { return b.root }

// Version returns the schema version of the configuration.
func (b *Base) Version() string { return b.version }

// parsed caches the most recently used bases by digest. Most stacks share a few bases, and parsing one takes longer
// than generating a configuration from it.
var parsed = lru.New(16)

// maxKeptBase is the maximum size in bytes of a base that is cached. It is several times the size of the largest
// shipped base. The nodes of a base need a hundred times the memory of its text, so a few large bases would exhaust the
// operator's memory.
const maxKeptBase = 64 << 10

// maxKeptNodes is the maximum number of nodes of a base that is cached. The largest shipped base has a thousand. A base
// of 64 KiB can have thirty times as many, which need six megabytes.
const maxKeptNodes = 5_000

// fits counts down the nodes of a configuration, and reports whether there are no more than left.
func fits(node *yaml.Node, left *int) bool {
	*left--
	for i := 0; i < len(node.Content) && *left >= 0; i++ {
		fits(node.Content[i], left)
	}
	return *left >= 0
}

// ParseUncached reads a base configuration as Parse does, but does not cache it. Use it for text that is read only
// once, such as a generated configuration.
func ParseUncached(data []byte) (*Base, error) {
	if len(data) > MaxSize {
		return nil, fmt.Errorf("the base configuration has %d bytes, but the limit is %d bytes; remove comments or unused sections",
			len(data), MaxSize)
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

// Read reads any configuration. It does not check the version or the shape.
func Read(data []byte) (*yaml.Node, error) {
	document, err := decodeYAML(data)
	if err != nil {
		return nil, err
	}
	return normalize(document)
}

// decodeYAML reads exactly one document.
func decodeYAML(data []byte) (document *yaml.Node, err error) {
	// A panic in the parser, which is a third-party library, must not stop the operator, because the input may come from a
	// registry.
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
		return nil, errors.New("contains more than one YAML document; keep one document")
	}
	return document.Content[0], nil
}

// syntaxError adds a hint to the error if the text has a common mistake that is hard to see.
func syntaxError(data []byte, err error) error {
	if line := yamlnode.TabLine(data, err); line > 0 {
		return fmt.Errorf("is not YAML: %w (line %d is indented with a tab; YAML requires spaces)", err, line)
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
