package registry

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"path"
	"strings"

	v1 "github.com/google/go-containerregistry/pkg/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/externalprovider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
)

// These are the labels of an image (FR-027a): the labels of this project, and the labels of the server's own images
// from 0.8 on (server fact 69).
const (
	// LabelBase64 holds the configuration itself.
	LabelBase64 = "io.llamastack.config.base64"
	// LabelLayer holds the digest of the layer that contains the configuration. LabelPath holds the path of the file in
	// that layer.
	LabelLayer = "io.llamastack.config.layer"
	LabelPath  = "io.llamastack.config.path"
	// LabelConfigVersion is the schema version of the configuration. If the version is not supported, the package rejects
	// the image before it reads a layer. Without the label, the configuration itself names its version.
	LabelConfigVersion = "io.llamastack.config.version"
	// LabelDefaultConfig names the file whose content is in the label com.ogx.config.<file>.
	LabelDefaultConfig = "com.ogx.distribution.default-config"
	labelConfigFile    = "com.ogx.config."
	// LabelRelease is the server's release. If this label is missing, the package returns the value of LabelImageVersion,
	// the version label that image builders write by convention. Package distribution ignores a value that is not a
	// release version.
	LabelRelease      = "io.llamastack.server.version"
	LabelImageVersion = "org.opencontainers.image.version"
	// LabelProvider holds the metadata of an external provider's package, in base64.
	LabelProvider = externalprovider.Label
)

// maxConfig bounds a configuration, because the operator stores it in a ConfigMap.
const maxConfig = baseconfig.MaxSize

// maxPath is the maximum length of a file path in Linux.
const maxPath = 4096

// maxShown is the maximum number of bytes of a label's value that an error shows.
const maxShown = 128

// shorten returns at most maxShown bytes of a label's value, for a message.
func shorten(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "") + "…"
}

// source is the location of an image's configuration.
type source struct {
	label string
	// data is the configuration, if a label holds it.
	data []byte
	// layer and file are the location of a configuration that is in a layer.
	layer v1.Hash
	file  string
}

// configSource returns the location of the configuration. LabelBase64 takes precedence over LabelLayer (FR-027b), and
// LabelLayer takes precedence over LabelDefaultConfig. configSource returns nil if the image has none of these labels.
func configSource(labels map[string]string) (*source, error) {
	if text, ok := labels[LabelBase64]; ok {
		return inline(LabelBase64, text)
	}
	if digest, ok := labels[LabelLayer]; ok {
		return inLayer(digest, labels[LabelPath])
	}
	if file, ok := labels[LabelDefaultConfig]; ok {
		if len(file) > maxPath {
			return nil, &LabelError{Label: LabelDefaultConfig, Err: fmt.Errorf("%q is not the name of a file", shorten(file))}
		}
		label := labelConfigFile + file
		text, ok := labels[label]
		if !ok {
			return nil, &LabelError{Label: LabelDefaultConfig, Err: fmt.Errorf("the image has no label %q; "+
				"add this label with the configuration in base64", shorten(label))}
		}
		return inline(label, text)
	}
	return nil, nil //nolint:nilnil // a missing label is not an error
}

// configVersion returns the schema version that a label names, or an empty string if there is no label. It returns an
// error for a version that is not supported (FR-029).
func configVersion(labels map[string]string) (string, error) {
	version := strings.TrimSpace(labels[LabelConfigVersion])
	if version == "" {
		return "", nil
	}
	if err := baseconfig.CheckVersion(shorten(version)); err != nil {
		return "", &LabelError{Label: LabelConfigVersion, Err: err}
	}
	return strings.Clone(version), nil // a part of the value would keep all of it in memory
}

func inline(label, text string) (*source, error) {
	if base64.StdEncoding.DecodedLen(len(text)) > maxConfig+2 {
		return nil, &LabelError{Label: label, Err: tooLarge("configuration", maxConfig)}
	}
	data, err := base64.StdEncoding.DecodeString(strings.TrimSpace(text))
	if err != nil {
		return nil, &LabelError{Label: label, Err: errors.New("the value is not base64; encode the configuration in base64")}
	}
	// The decoder ignores line breaks, but makes room for them.
	return &source{label: label, data: bytes.Clone(data)}, nil
}

func inLayer(digest, file string) (*source, error) {
	layer, err := v1.NewHash(digest)
	if err != nil {
		return nil, &LabelError{Label: LabelLayer, Err: fmt.Errorf("%q is not a digest; set this label to the digest of the layer that contains the configuration", shorten(digest))}
	}
	cleaned := strings.TrimPrefix(path.Clean("/"+file), "/")
	if file == "" || cleaned == "" || len(file) > maxPath {
		return nil, &LabelError{Label: LabelPath, Err: fmt.Errorf("%q is not a file path; "+
			"set this label to the path of the configuration in the layer that the label %s names", shorten(file), LabelLayer)}
	}
	return &source{label: LabelLayer, layer: layer, file: cleaned}, nil
}
