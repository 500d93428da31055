package registry

import (
	"encoding/base64"
)

const (
	// MaxInline is a size in bytes. A configuration of this size or larger is stored in a layer, not in a label (FR-027a).
	MaxInline = 50 << 10
	// LayerFile is the path of the configuration in a layer that contains only the configuration.
	LayerFile = "usr/share/llama-stack/config.yaml"
)

// ConfigLabels lists the labels of this project that contain a configuration, its location or its schema version. A
// program that writes a configuration must remove the labels that it does not write again.
var ConfigLabels = []string{LabelBase64, LabelLayer, LabelPath, LabelConfigVersion}

// Labels holds the content of an image's labels.
type Labels struct {
	// Config is the server's configuration, and ConfigVersion is its schema version. Nil leaves the labels unchanged.
	Config        []byte
	ConfigVersion string
	// Release is the server's release. Empty leaves the label unchanged.
	Release string
	// Provider is the metadata file of an external provider. Nil leaves the label unchanged.
	Provider []byte
}

// InLayer reports whether the configuration is too large for a label.
func (l *Labels) InLayer() bool { return len(l.Config) >= MaxInline }

// Texts returns the labels. The parameter layer is the digest of the layer with the configuration, if there is one.
func (l *Labels) Texts(layer string) map[string]string {
	texts := map[string]string{}
	if l.Config != nil {
		texts[LabelConfigVersion] = l.ConfigVersion
		if l.InLayer() {
			texts[LabelLayer], texts[LabelPath] = layer, "/"+LayerFile
		} else {
			texts[LabelBase64] = base64.StdEncoding.EncodeToString(l.Config)
		}
	}
	if l.Release != "" {
		texts[LabelRelease] = l.Release
	}
	if l.Provider != nil {
		texts[LabelProvider] = base64.StdEncoding.EncodeToString(l.Provider)
	}
	return texts
}
