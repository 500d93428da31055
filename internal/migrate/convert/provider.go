package convert

import (
	"maps"
	"slices"
	"strings"
)

// regionKeys maps a provider type to its key for the region if that key is not `region`. The keys of the map are the
// last parts of the types. A test compares the map with the data of the releases.
var regionKeys = map[string]string{"bedrock": "region_name", "oci": "oci_region"}

// moved contains the fields of a provider in v1alpha1 that are part of settings in the hub.
var moved = []string{"region", "deploymentName", "config"}

// providersToHub converts the provider, or the list of providers, of one API. It returns a value without moved fields
// unchanged.
func providersToHub(written any) any {
	providers := items(written)
	if !slices.ContainsFunc(providers, hasMoved) {
		return providerToHub(written)
	}
	converted := make([]any, len(providers))
	for i, provider := range providers {
		converted[i] = providerToHub(provider)
	}
	return converted
}

func hasMoved(provider any) bool { return member(provider, moved...) != nil }

// providerToHub moves the fields next to settings into settings. Existing keys in settings take precedence. Values of
// an incorrect type are not moved, because validation reports them.
func providerToHub(written any) any {
	if !hasMoved(written) {
		return written
	}
	provider := maps.Clone(fields(written))
	settings := fields(provider["settings"])
	if !isNull(provider["settings"]) && settings == nil {
		return written
	}
	added := tree{}
	if region := provider["region"]; kind(region) == '"' {
		added[regionKey(provider)] = region
		delete(provider, "region")
	}
	if name := provider["deploymentName"]; kind(name) == '"' {
		added["deployment_name"] = name
		delete(provider, "deploymentName")
	}
	config := fields(provider["config"])
	if config != nil {
		maps.Copy(added, config)
		delete(provider, "config")
	}
	if config != nil || len(added) > 0 {
		maps.Copy(added, settings)
		provider["settings"] = added
	}
	return provider
}

func regionKey(provider tree) string {
	name := text(provider["provider"])
	if key, ok := regionKeys[name[strings.LastIndex(name, ":")+1:]]; ok {
		return key
	}
	return "region"
}
