package convert

import (
	"slices"
	"strings"
)

// regionKeys maps a provider type to its key for the region if that key is not `region`. The keys of the map are the
// last parts of the types. A test compares the map with the data of the releases.
var regionKeys = map[string]string{"bedrock": "region_name", "oci": "oci_region"}

// moved contains the fields of a provider in v1alpha1 that are part of settings in the hub.
var moved = []string{"region", "deploymentName", "config"}

// providersToHub converts the provider, or the list of providers, of one API. A value without moved fields is copied
// byte by byte.
func providersToHub(written *value, from *arena) {
	if written.hasMoved() {
		providerToHub(written.open(from))
		return
	}
	providers := written.listed()
	if providers == nil || !slices.ContainsFunc(*providers, value.hasMoved) {
		return
	}
	for i := range *providers {
		if provider := (*providers)[i].open(from); provider != nil {
			providerToHub(provider)
		}
	}
	*written = value{list: providers}
}

func (v value) hasMoved() bool {
	return slices.ContainsFunc(moved, func(key string) bool { return v.member(key).exists() })
}

// providerToHub moves the fields next to settings into settings. Existing keys in settings take precedence. Values of
// an incorrect type are not moved, because validation reports them.
func providerToHub(provider *object) {
	settings := provider.objectAt("settings")
	if !provider.get("settings").isNull() && settings == nil {
		return
	}
	added := provider.another()
	if region := provider.get("region"); region.isRaw('"') {
		added.set(regionKey(provider), region)
		provider.delete("region")
	}
	if name := provider.get("deploymentName"); name.isRaw('"') {
		added.set("deployment_name", name)
		provider.delete("deploymentName")
	}
	config := provider.objectAt("config")
	if config != nil {
		added = merged(added, config)
		provider.delete("config")
	}
	if config != nil || added.size() > 0 {
		provider.set("settings", value{object: merged(added, settings)})
	}
}

func regionKey(provider *object) string {
	name, _ := provider.get("provider").text()
	if key, ok := regionKeys[name[strings.LastIndex(name, ":")+1:]]; ok {
		return key
	}
	return "region"
}
