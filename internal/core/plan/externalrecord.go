package plan

import (
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/externalprovider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/rollout"
)

// ExternalImage holds the known facts about the image of an external provider.
type ExternalImage struct {
	// Package is the metadata in the image's label. Nil means that the label is missing, is invalid or was not read.
	Package *externalprovider.Package
	// Digest is the digest of the image when it was read. Empty means that it was not read.
	Digest string
	// Changed reports whether the settings differ from those that were checked against the schema in the label. A record
	// does not contain the schema, so the operator must read the image again to check changed settings.
	Changed bool
}

// RecordedImage returns the facts in a record about the image of an external provider, or nil if there are none.
func RecordedImage(recorded []rollout.External, provider *intent.ExternalProvider) (*ExternalImage, error) {
	for _, found := range recorded {
		if found.ID != provider.ID || found.Image != rollout.ExternalImage(provider.Image) {
			continue
		}
		known := &ExternalImage{Digest: found.Digest}
		if found.Type == "" {
			return known, nil
		}
		known.Package = &externalprovider.Package{API: found.API, Type: found.Type, Module: found.Module}
		if found.Settings == "" {
			return known, nil
		}
		known.Package.ConfigSchema = map[string]any{} // an empty schema accepts any settings
		settings, err := externalSettings(provider)
		known.Changed = settings != found.Settings
		return known, err
	}
	return nil, nil //nolint:nilnil // a record might not contain an image
}

// recordExternal returns the facts about the images of external providers for the record.
func recordExternal(in Input) ([]rollout.External, error) {
	var recorded []rollout.External
	for i := range in.Intent.External {
		provider := &in.Intent.External[i]
		found := rollout.External{
			ID: provider.ID, Image: rollout.ExternalImage(provider.Image), Digest: in.PackageDigests[provider.ID],
		}
		if known := in.Packages[provider.ID]; known != nil {
			found.API, found.Type, found.Module = known.API, known.Type, known.Module
			if known.ConfigSchema != nil {
				var err error
				if found.Settings, err = externalSettings(provider); err != nil {
					return nil, err
				}
			}
		}
		recorded = append(recorded, found)
	}
	return recorded, nil
}

func externalSettings(provider *intent.ExternalProvider) (string, error) {
	var keys []string
	for i := range provider.Secrets {
		keys = append(keys, provider.Secrets[i].Key)
	}
	return rollout.ExternalSettings(provider.Config, keys)
}
