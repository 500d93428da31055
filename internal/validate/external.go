package validate

import (
	"encoding/json"
	"fmt"
	"iter"
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

// external goes over all external providers, sorted by API, in written order.
func external(obj *object) iter.Seq2[*field.Path, *v1alpha2.ExternalProvider] {
	return func(yield func(*field.Path, *v1alpha2.ExternalProvider) bool) {
		for _, api := range slices.Sorted(maps.Keys(obj.Spec.ExternalProviders)) {
			list := obj.Spec.ExternalProviders[api]
			for i := range list {
				if !yield(spec("externalProviders", api).Index(i), &list[i]) {
					return
				}
			}
		}
	}
}

func externalAPI(obj *object) field.ErrorList {
	var errs field.ErrorList
	for _, api := range slices.Sorted(maps.Keys(obj.Spec.ExternalProviders)) {
		if serverAPI(api) == "" {
			errs = append(errs, field.Invalid(spec("externalProviders", api), api, unknownAPI(api)))
		}
	}
	return errs
}

func externalCount(obj *object) field.ErrorList {
	path, all := spec("externalProviders"), obj.Spec.ExternalProviders
	errs := atMost(path, len(all), maxExternalAPIs)
	if all != nil && len(all) == 0 {
		errs = append(errs, field.Required(path, "must not be empty; leave the field out to have the default"))
	}
	for _, api := range slices.Sorted(maps.Keys(all)) {
		errs = append(errs, atMost(path.Child(api), len(all[api]), maxExternal)...)
		if len(all[api]) == 0 {
			errs = append(errs, field.Required(path.Child(api), "must not be empty; leave the field out to have the default"))
		}
	}
	return errs
}

func externalID(obj *object) field.ErrorList {
	var errs field.ErrorList
	for path, provider := range external(obj) {
		id := provider.ProviderID
		if len(id) > maxID || !idForm.MatchString(id) {
			errs = append(errs, field.Invalid(path.Child("providerId"), id, fmt.Sprintf(
				`%q cannot be an id: at most 63 letters, digits, "-", "_" and ".", with a letter or digit at both ends`, id)))
		}
	}
	return errs
}

// externalTwice refuses two external providers with one id: which of the two
// images should serve it?
func externalTwice(obj *object) field.ErrorList {
	var errs field.ErrorList
	first := make(map[string]string)
	images := make(map[string]string)
	for path, provider := range external(obj) {
		id := provider.ProviderID
		if other, taken := first[id]; taken {
			errs = append(errs, field.Forbidden(path.Child("providerId"), fmt.Sprintf(
				"%q comes from two images, %s here and %s in %s: give one of them another id", id, provider.Image, images[id], other)))
			continue
		}
		first[id], images[id] = path.String(), provider.Image
	}
	return errs
}

func externalImage(obj *object) field.ErrorList {
	var errs field.ErrorList
	for path, provider := range external(obj) {
		errs = append(errs, Image(path.Child("image"), provider.Image)...)
	}
	return errs
}

func externalPullPolicy(obj *object) field.ErrorList {
	var errs field.ErrorList
	for path, provider := range external(obj) {
		errs = append(errs, pullPolicy(path.Child("imagePullPolicy"), provider.ImagePullPolicy)...)
	}
	return errs
}

func externalConfig(obj *object) field.ErrorList {
	var errs field.ErrorList
	for path, provider := range external(obj) {
		var fields map[string]json.RawMessage
		if provider.Config != nil && (json.Unmarshal(provider.Config.Raw, &fields) != nil || fields == nil) {
			errs = append(errs, field.TypeInvalid(path.Child("config"), field.OmitValueType{}, "must be an object"))
		}
	}
	return errs
}

func externalSecrets(obj *object) field.ErrorList {
	var errs field.ErrorList
	for path, provider := range external(obj) {
		refs := path.Child("secretRefs")
		errs = append(errs, atMost(refs, len(provider.SecretRefs), maxExternalSecrets)...)
		for _, key := range slices.Sorted(maps.Keys(provider.SecretRefs)) {
			errs = append(errs, secretReference(refs.Key(key), provider.SecretRefs[key])...)
		}
	}
	return errs
}
