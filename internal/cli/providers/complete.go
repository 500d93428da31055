package providers

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// askedRelease returns the release in --release, or the default release.
func askedRelease(command *cobra.Command) *release.Release {
	if match, err := release.Lookup(app.FlagOf(command, "release")); err == nil {
		return match.Release
	}
	return release.Default()
}

// apisOf returns the APIs of a release that have providers.
func apisOf(rel *release.Release) []string {
	return slices.DeleteFunc(slices.Clone(rel.APIs()), func(name string) bool { return len(rel.ProviderTypes(name)) == 0 })
}

// completeProviderTypes completes the argument TYPE of the command `providers`. The flags of the command select the
// release and the API.
func completeProviderTypes(command *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	rel := askedRelease(command)
	var types []string
	for _, api := range apisOf(rel) {
		if asked := app.FlagOf(command, "api"); asked != "" && draft.APIName(asked) != api {
			continue
		}
		for _, name := range rel.ProviderTypes(api) {
			if kind, ok := rel.Provider(api, name); ok && !slices.Contains(types, kind.Short()) {
				types = append(types, kind.Short())
			}
		}
	}
	return types, cobra.ShellCompDirectiveNoFileComp
}
