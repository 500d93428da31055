package intent

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

// decodeExternal reads the providers that have their own images. Package validate checks their individual fields.
func decodeExternal(written map[string]v1alpha2.ExternalProviders, path *field.Path, errs *Errors) []ExternalProvider {
	var all []ExternalProvider
	for _, name := range slices.Sorted(maps.Keys(written)) {
		list := written[name]
		for i := range list {
			all = append(all, decodeExternalProvider(&list[i], serverAPI(name), path.Child(name).Index(i), errs))
		}
	}
	slices.SortStableFunc(all, func(a, b ExternalProvider) int { return strings.Compare(a.API, b.API) })
	return all
}

// serverAPI returns the server's name for an API that is written in camelCase or snake_case.
func serverAPI(name string) string {
	var snake strings.Builder
	for _, r := range name {
		if 'A' <= r && r <= 'Z' {
			snake.WriteByte('_')
			r += 'a' - 'A'
		}
		snake.WriteRune(r)
	}
	return cmp.Or(API(name), snake.String())
}

func decodeExternalProvider(
	written *v1alpha2.ExternalProvider, api string, path *field.Path, errs *Errors,
) ExternalProvider {
	p := ExternalProvider{
		API: api, ID: written.ProviderID, Image: written.Image, PullPolicy: written.ImagePullPolicy, Path: path,
		Config: decodeExternalConfig(written.Config, path.Child("config"), errs),
	}
	for _, key := range slices.Sorted(maps.Keys(written.SecretRefs)) {
		at := path.Child("secretRefs").Key(key)
		if key == "" {
			errs.Forbidden(at, "a key in a provider's configuration must not be empty: "+
				"set the key, or remove the entry")
			continue
		}
		if _, both := p.Config[key]; both {
			errs.Forbidden(path.Child("config").Child(key), "%q is also set by %s; keep one of them", key, at)
		}
		ref := written.SecretRefs[key]
		if secret := Secret(&ref, at, errs); secret != nil {
			p.Secrets = append(p.Secrets, SecretKey{Key: key, SecretRef: *secret})
		}
	}
	return p
}

func decodeExternalConfig(written *apiextensionsv1.JSON, path *field.Path, errs *Errors) map[string]any {
	if written == nil {
		return nil
	}
	value, _ := decodeJSON(written.Raw)
	config, _ := value.(map[string]any)
	if deeper(config, maxDepth) {
		errs.Forbidden(path, "is nested more than %d levels deep; reduce the nesting", maxDepth)
		return nil
	}
	return config
}

// uniqueExternal rejects an external provider that has the same ID as a provider of a different API in spec.providers
// (FR-072). An external provider is allowed to have the ID of a provider of the same API, which it replaces (FR-092).
// Package validate compares the IDs of external providers with each other.
func uniqueExternal(in *Intent, errs *Errors) {
	first := make(map[string]*Provider, len(in.Providers))
	for i := range in.Providers {
		if p := &in.Providers[i]; first[p.ID] == nil {
			first[p.ID] = p
		}
	}
	for i := range in.External {
		p := &in.External[i]
		if other := first[p.ID]; other != nil && other.API != p.API {
			errs.Forbidden(p.Path.Child("providerId"),
				"%q is also the ID of %s; provider IDs must be unique across all APIs: give one of the providers another ID", p.ID, other.Path)
		}
	}
}

// ExternalWith returns the external provider with the given API and ID, or nil if there is no such provider. An
// external provider takes precedence over any other provider with the same API and ID.
func (in *Intent) ExternalWith(api, id string) *ExternalProvider {
	for i := range in.External {
		if p := &in.External[i]; p.API == api && p.ID == id {
			return p
		}
	}
	return nil
}
