package registry

import (
	"encoding/base64"
)

const (
	// MaxInline is the size from which on a configuration is in a layer, and not in a label (FR-027a).
	MaxInline = 50 << 10
	// LayerFile is the path of the configuration in a layer that was made for it.
	LayerFile = "usr/share/llama-stack/config.yaml"
)

// ConfigLabels are the labels that lead to a configuration, and of which those that are not written anew are removed.
var ConfigLabels = []string{LabelBase64, LabelLayer, LabelPath, LabelConfigVersion}

// Labels are what an image is to say of itself.
type Labels struct {
	// Config is the configuration of its server, and ConfigVersion its schema version. Nil: the labels stay as they are.
	Config        []byte
	ConfigVersion string
	// Release is the release of its server. Empty: the label stays as it is.
	Release string
	// Provider is the metadata file of an external provider. Nil: the label stays as it is.
	Provider []byte
}

// InLayer reports whether the configuration is too large for a label.
func (l *Labels) InLayer() bool { return len(l.Config) >= MaxInline }

// Texts are the labels themselves. layer is the digest of the layer with the configuration, where there is one.
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
