package externalprovider

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
)

const (
	// Label is the key of the image label that contains the metadata file in base64.
	Label = "io.llamastack.provider"
	// Directory is the directory in an image that contains the package.
	Directory = "/lls-provider"
	// File is the name of the metadata file in that directory.
	File = "lls-provider-spec.yaml"
	// MaxSize is the maximum size of a metadata file in bytes.
	MaxSize = 64 << 10
)

// These values identify the format of a metadata file.
const (
	apiVersion = "llamastack.io/v1alpha1"
	kind       = "ProviderPackage"
)

// FromLabel reads the metadata file from the value of an image label. It does not panic on any input.
func FromLabel(text string) (*Package, error) {
	if base64.StdEncoding.DecodedLen(len(text)) > MaxSize+2 {
		return nil, fmt.Errorf("label %s: the metadata file is larger than %d bytes; shorten the file", Label, MaxSize)
	}
	data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return nil, fmt.Errorf("label %s: the value is not base64; encode the metadata file in base64", Label)
	}
	found, err := Parse(data)
	if err != nil {
		return nil, fmt.Errorf("label %s: %w", Label, err)
	}
	return found, nil
}

// Parse reads a metadata file. Errors about a field contain the line number. Parse does not panic on any input. It
// ignores unknown fields, because a later version of the format may add fields.
func Parse(data []byte) (*Package, error) {
	found, err := parse(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", File, err)
	}
	return found, nil
}

func parse(data []byte) (*Package, error) {
	if len(data) > MaxSize {
		return nil, fmt.Errorf("has %d bytes, but at most %d are allowed; shorten the file", len(data), MaxSize)
	}
	root, err := baseconfig.Read(data)
	if err != nil {
		return nil, err
	}
	return packageOf(section{node: root, problem: new(error)})
}

// packageOf returns the package that a metadata file describes.
func packageOf(file section) (*Package, error) {
	file.must("apiVersion", apiVersion)
	file.must("kind", kind)
	metadata, spec := file.section("metadata"), file.section("spec")
	found := &Package{
		Name:             metadata.text("name", nil),
		Version:          metadata.text("version", nil),
		Vendor:           metadata.text("vendor", nil),
		Module:           spec.text("packageName", module),
		Type:             spec.text("providerType", providerType),
		API:              spec.text("api", api),
		Wheel:            spec.wheel("wheelPath"),
		DependencyWheels: spec.wheels("dependencyWheels"),
		ConfigSchema:     spec.object("configSchema"),
	}
	return found, *file.problem
}

var errOutside = errors.New("is not the path of a wheel below " + Directory + "; use a path like " +
	"packages/my_provider-1.0-py3-none-any.whl")

// Package is the metadata of an external provider's package.
type Package struct {
	// Name, Version and Vendor identify the package.
	Name, Version, Vendor string
	// API is the server's name for the API that the provider implements, for example vector_io.
	API string
	// Type is the provider's type, for example remote::custom-vllm.
	Type string
	// Module is the Python module that the server imports, for example my_org.custom_vllm (server fact 68).
	Module string
	// Wheel is the path of the package's wheel below /lls-provider, and DependencyWheels are the paths of its
	// dependencies' wheels. If the file does not list dependencies, the last init container also installs all wheels in
	// /lls-provider/packages.
	Wheel            string
	DependencyWheels []string
	// ConfigSchema is the JSON Schema of the provider's configuration, from spec.configSchema in the file. It contains
	// values of the types nil, bool, int, float64, string, []any and map[string]any. A nil ConfigSchema means that the
	// package has no schema.
	ConfigSchema map[string]any
}

// UnknownType is the provider type in a configuration if the metadata of the provider's image could not be read. No
// server accepts this type. The last init container replaces it with the type in the image.
const UnknownType = "external::unknown"
