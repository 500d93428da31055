//go:build node && all

package node

import "testing"

// The oldest and the newest release that load a provider by its module.
func TestExternalProvidersOfReleases(t *testing.T) {
	for _, release := range []string{oldestExternal, newestRelease} {
		t.Run(release, func(t *testing.T) {
			newRealScenario(t, "server@"+release).externalProviders(release)
		})
	}
}

// oldestExternal is the oldest release that external providers are promised for.
const oldestExternal = "0.3.5"
