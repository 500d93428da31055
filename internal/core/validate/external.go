package validate

import (
	"encoding/json"
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
)

const (
	maxExternalAPIs    = 20
	maxExternal        = 16
	maxExternalSecrets = 16
)

// eachExternal returns a rule that checks all external providers. It sorts them by API, and keeps their order within
// each API.
func eachExternal(check func(c *checks, path *field.Path, provider *v1alpha2.ExternalProvider)) func(*checks) {
	return func(c *checks) {
		for _, api := range slices.Sorted(maps.Keys(c.Spec.ExternalProviders)) {
			list := c.Spec.ExternalProviders[api]
			for i := range list {
				check(c, spec("externalProviders", api).Index(i), &list[i])
			}
		}
	}
}

func externalAPI(c *checks) {
	for _, api := range slices.Sorted(maps.Keys(c.Spec.ExternalProviders)) {
		if serverAPI(api) == "" {
			c.Invalid(spec("externalProviders", api), api, "%s", unknownAPI(api))
		}
	}
}

func externalCount(c *checks) {
	path, all := spec("externalProviders"), c.Spec.ExternalProviders
	c.atMost(path, len(all), maxExternalAPIs)
	c.notEmpty(path, all != nil, len(all))
	for _, api := range slices.Sorted(maps.Keys(all)) {
		c.atMost(path.Child(api), len(all[api]), maxExternal)
		c.notEmpty(path.Child(api), true, len(all[api]))
	}
}

func externalID(c *checks, path *field.Path, provider *v1alpha2.ExternalProvider) {
	if id := provider.ProviderID; len(id) > maxID || !idForm.MatchString(id) {
		c.InvalidText(path.Child("providerId"), id,
			`is not a valid ID: use at most 63 letters, digits, "-", "_" and ".", and begin and end with a letter or digit`)
	}
}

// externalTwice rejects two external providers with the same ID, because the server can use the provider with this ID
// from only one image.
func externalTwice(c *checks) {
	first := make(map[string]string)
	images := make(map[string]string)
	eachExternal(func(c *checks, path *field.Path, provider *v1alpha2.ExternalProvider) {
		id := provider.ProviderID
		if other, taken := first[id]; taken {
			c.Forbidden(path.Child("providerId"),
				"%q is the ID of two providers, from image %s here and from image %s in %s: give one of the providers another ID", id, provider.Image, images[id], other)
			return
		}
		first[id], images[id] = path.String(), provider.Image
	})(c)
}

func externalImage(c *checks, path *field.Path, provider *v1alpha2.ExternalProvider) {
	c.Add(Image(path.Child("image"), provider.Image)...)
}

func externalPullPolicy(c *checks, path *field.Path, provider *v1alpha2.ExternalProvider) {
	pullPolicy(c, path.Child("imagePullPolicy"), provider.ImagePullPolicy)
}

func externalConfig(c *checks, path *field.Path, provider *v1alpha2.ExternalProvider) {
	var fields map[string]json.RawMessage
	if provider.Config != nil && (json.Unmarshal(provider.Config.Raw, &fields) != nil || fields == nil) {
		c.Add(field.TypeInvalid(path.Child("config"), field.OmitValueType{}, "must be an object"))
	}
}

func externalSecrets(c *checks, path *field.Path, provider *v1alpha2.ExternalProvider) {
	c.atMost(path.Child("secretRefs"), len(provider.SecretRefs), maxExternalSecrets)
}
