package starter

import (
	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
)

// completeInit completes the init flags that accept one of several values.
func completeInit(command *cobra.Command) {
	for flag, names := range map[string]func(*cobra.Command) []string{
		"provider":     func(c *cobra.Command) []string { return Providers(app.FlagOf(c, "release")) },
		"store":        func(*cobra.Command) []string { return Stores() },
		"distribution": func(*cobra.Command) []string { return distribution.Known(distribution.Overrides{}) },
	} {
		app.Must(command.RegisterFlagCompletionFunc(flag, app.Completed(names)))
	}
	app.Must(command.RegisterFlagCompletionFunc("setting",
		func(command *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return settingKeys(command), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}))
}

// settingKeys returns the setting keys of the provider in --provider.
func settingKeys(command *cobra.Command) []string {
	kind, ok := Answers{Release: app.FlagOf(command, "release"), Provider: app.FlagOf(command, "provider")}.KindOf()
	if !ok {
		return nil
	}
	keys := Settings(kind)
	for i := range keys {
		keys[i] += "="
	}
	return keys
}
