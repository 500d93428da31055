package convert

import "strings"

// regionKeys are the providers whose key for a region is not `region`, by the
// last part of their type. A test compares them with what the releases say.
var regionKeys = map[string]string{"bedrock": "region_name", "oci": "oci_region"}

// providersToHub turns the providers of one API, a single one or a list.
func providersToHub(written any) any {
	if provider, ok := object(written); ok {
		return providerToHub(provider)
	}
	providers, isList := openList(written)
	if !isList {
		return written
	}
	for i := range providers {
		if provider, ok := object(providers[i]); ok {
			providers[i] = providerToHub(provider)
		}
	}
	return providers
}

// providerToHub moves what v1alpha1 has beside settings into settings, which win
// where both say something. What is of a wrong type stays, for validation to
// tell.
func providerToHub(provider map[string]any) map[string]any {
	settings, isObject := object(provider["settings"])
	if !isNull(provider["settings"]) && !isObject {
		return provider
	}
	added := make(map[string]any)
	if region, ok := opened(provider["region"]).(string); ok {
		added[regionKey(provider)] = region
		delete(provider, "region")
	}
	if name, ok := opened(provider["deploymentName"]).(string); ok {
		added["deployment_name"] = name
		delete(provider, "deploymentName")
	}
	config, given := object(provider["config"])
	if given {
		added = merged(added, config)
		delete(provider, "config")
	}
	if given || len(added) > 0 {
		provider["settings"] = merged(added, settings)
	}
	return provider
}

func regionKey(provider map[string]any) string {
	name, _ := opened(provider["provider"]).(string)
	if key, ok := regionKeys[name[strings.LastIndex(name, ":")+1:]]; ok {
		return key
	}
	return "region"
}
