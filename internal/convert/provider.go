package convert

import (
	"slices"
	"strings"
)

// regionKeys are the providers whose key for a region is not `region`, by the
// last part of their type. A test compares them with what the releases say.
var regionKeys = map[string]string{"bedrock": "region_name", "oci": "oci_region"}

// moved are the fields that v1alpha1 has beside settings.
var moved = []string{"region", "deploymentName", "config"}

// providersToHub turns the providers of one API, a single one or a list. What has
// nothing to turn stays the bytes it was.
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

// providerToHub moves what v1alpha1 has beside settings into settings, which win
// where both say something. What is of a wrong type stays, for validation to
// tell.
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
