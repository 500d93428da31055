package registry

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/externalprovider"
)

// imageConfig is the part of an image's configuration that the operator needs. Labels and arguments remain encoded,
// because only a few of them are needed.
type imageConfig struct {
	Config struct {
		Labels     json.RawMessage `json:"Labels"`
		Entrypoint json.RawMessage `json:"Entrypoint"`
		Cmd        json.RawMessage `json:"Cmd"`
	} `json:"config"`
}

func decodeImageConfig(content []byte) (*imageConfig, error) {
	var found imageConfig
	if err := json.Unmarshal(content, &found); err != nil {
		return nil, errNoImage
	}
	return &found, nil
}

// labels returns the labels that this package reads.
func (c *imageConfig) labels(ctx context.Context) (map[string]string, error) {
	found := map[string]string{}
	known := []string{
		LabelBase64, LabelLayer, LabelPath, LabelConfigVersion, LabelDefaultConfig, LabelRelease, LabelImageVersion,
	}
	if err := c.addLabels(ctx, found, known...); err != nil {
		return nil, err
	}
	if file, ok := found[LabelDefaultConfig]; ok && len(file) <= maxPath {
		if err := c.addLabels(ctx, found, labelConfigFile+file); err != nil {
			return nil, err
		}
	}
	return found, nil
}

// provider returns the encoded label with the metadata of an external provider's package. Empty means that the image
// has no such label.
func (c *imageConfig) provider(ctx context.Context) (string, error) {
	found := map[string]string{}
	if err := c.addLabels(ctx, found, LabelProvider); err != nil {
		return "", err
	}
	label := found[LabelProvider]
	if base64.StdEncoding.DecodedLen(len(label)) > externalprovider.MaxSize+2 {
		return "", &LabelError{Label: LabelProvider, Err: tooLarge("package metadata", externalprovider.MaxSize)}
	}
	return label, nil
}

// addLabels adds the labels with the given names to the map `into`, and ignores all others.
func (c *imageConfig) addLabels(ctx context.Context, into map[string]string, names ...string) error {
	return eachEntry(ctx, c.Config.Labels, '{', func(decoder *json.Decoder) (done bool, err error) {
		label, err := decoder.Token()
		if err != nil {
			return false, errNoImage
		}
		var value string
		if err := decoder.Decode(&value); err != nil {
			return false, errNoImage
		}
		if name, ok := label.(string); ok && slices.Contains(names, name) {
			into[name] = value
		}
		return false, nil
	})
}

const (
	// maxEntrypoint is the maximum size, in bytes, of an entrypoint that the operator uses. Each argument counts as its
	// length and the size of an empty string in memory.
	maxEntrypoint = 4 << 10
	emptyArgument = 16
	// maxRawEntrypoint bounds the entrypoint as JSON, in which an escaped byte takes up to six bytes.
	maxRawEntrypoint = 6 * maxEntrypoint
)

// entrypoint returns the program that the image starts, with its arguments. Nil means that the image has no entrypoint,
// that the entrypoint also needs the CMD of the image, or that the entrypoint is too long.
func (c *imageConfig) entrypoint() ([]string, error) {
	if len(c.Config.Entrypoint) > maxRawEntrypoint {
		return nil, nil
	}
	cmd, err := entriesOf(c.Config.Cmd, '[')
	if err != nil || cmd != nil && cmd.More() || c.Config.Entrypoint == nil {
		return nil, err
	}
	var found []string
	if err := json.Unmarshal(c.Config.Entrypoint, &found); err != nil {
		return nil, errNoImage
	}
	size := 0
	for _, argument := range found {
		size += emptyArgument + len(argument)
	}
	if size > maxEntrypoint {
		return nil, nil
	}
	return found, nil
}
