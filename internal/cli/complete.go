package cli

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/starter"
	"github.com/llamastack/llama-stack-k8s-operator/internal/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
)

// completionTime bounds the duration of the requests for a completion, because the shell waits for the result.
const completionTime = 3 * time.Second

// manifestExtensions are the file extensions of manifests.
var manifestExtensions = []string{"yaml", "yml", "json"}

// completeFixed completes a flag that has a fixed list of values.
func completeFixed(command *cobra.Command, flag string, values []string) {
	must(command.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
}

// completeReleases completes a flag with the known release lines.
func completeReleases(command *cobra.Command, flag string) {
	completeFixed(command, flag, release.Lines())
}

// completeAll registers completions for the names of stacks and for flags. The name of a flag determines its
// completion. completeAll does not replace completions that a command has already registered.
func completeAll(root *cobra.Command) {
	for _, command := range root.Commands() {
		completeAll(command)
	}
	command := root
	command.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		if _, known := command.GetFlagCompletionFunc(flag.Name); known {
			return
		}
		if complete := completionOf(command, flag.Name); complete != nil {
			must(command.RegisterFlagCompletionFunc(flag.Name, complete))
		}
	})
	if command.ValidArgsFunction == nil && command.Flags().Lookup("kubeconfig") != nil && strings.Contains(command.Use, "NAME") {
		command.ValidArgsFunction = completeStacks
	}
}

// completionOf returns the completion of a flag. It returns nil for a flag that accepts any file or has no known
// values.
func completionOf(command *cobra.Command, flag string) cobra.CompletionFunc {
	onCluster := command.Flags().Lookup("kubeconfig") != nil
	switch {
	case flag == "filename" || flag == "operator-config" || flag == "previous":
		return cobra.FixedCompletions(manifestExtensions, cobra.ShellCompDirectiveFilterFileExt)
	case flag == "kustomize":
		return cobra.FixedCompletions(nil, cobra.ShellCompDirectiveFilterDirs)
	case flag == "color":
		return cobra.FixedCompletions(colorChoices, cobra.ShellCompDirectiveNoFileComp)
	case flag == "context":
		return completeConfig(func(c *clientcmdapi.Config) []string { return slices.Sorted(maps.Keys(c.Contexts)) })
	case flag == "cluster":
		return completeConfig(func(c *clientcmdapi.Config) []string { return slices.Sorted(maps.Keys(c.Clusters)) })
	case flag == "user":
		return completeConfig(func(c *clientcmdapi.Config) []string { return slices.Sorted(maps.Keys(c.AuthInfos)) })
	case flag == "namespace" && onCluster:
		return completeNamespaces
	case flag == "release":
		return cobra.FixedCompletions(release.Offered(), cobra.ShellCompDirectiveNoFileComp)
	case flag == "output" && strings.Contains(command.Flags().Lookup("output").Usage, "table, json or yaml"):
		return cobra.FixedCompletions([]string{formTable, formJSON, formYAML}, cobra.ShellCompDirectiveNoFileComp)
	case flag == "api":
		return func(command *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return camelCased(apisOf(command)), cobra.ShellCompDirectiveNoFileComp
		}
	default:
		return nil
	}
}

// flagOf returns the value of a flag on the incomplete command line, or "".
func flagOf(command *cobra.Command, name string) string {
	if flag := command.Flags().Lookup(name); flag != nil {
		return flag.Value.String()
	}
	return ""
}

// askedRelease returns the release in --release, or the default release.
func askedRelease(command *cobra.Command) *release.Release {
	if match, err := release.Lookup(flagOf(command, "release")); err == nil {
		return match.Release
	}
	return release.Default()
}

func apisOf(command *cobra.Command) []string {
	rel := askedRelease(command)
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
	for _, api := range apisOf(command) {
		if asked := flagOf(command, "api"); asked != "" && draft.APIName(asked) != api {
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

// completeInit completes the init flags that accept one of several values.
func completeInit(command *cobra.Command) {
	fixed := func(values func(command *cobra.Command) []string, more cobra.ShellCompDirective) cobra.CompletionFunc {
		return func(command *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return values(command), cobra.ShellCompDirectiveNoFileComp | more
		}
	}
	for flag, complete := range map[string]cobra.CompletionFunc{
		"provider":     fixed(func(c *cobra.Command) []string { return starter.Providers(flagOf(c, "release")) }, 0),
		"setting":      fixed(settingKeys, cobra.ShellCompDirectiveNoSpace),
		"store":        fixed(func(*cobra.Command) []string { return starter.Stores() }, 0),
		"distribution": fixed(func(*cobra.Command) []string { return distribution.Known(distribution.Overrides{}) }, 0),
	} {
		must(command.RegisterFlagCompletionFunc(flag, complete))
	}
}

// settingKeys returns the setting keys of the provider in --provider.
func settingKeys(command *cobra.Command) []string {
	kind, ok := starter.Answers{Release: flagOf(command, "release"), Provider: flagOf(command, "provider")}.KindOf()
	if !ok {
		return nil
	}
	keys := starter.Settings(kind)
	for i := range keys {
		keys[i] += "="
	}
	return keys
}

// completeStacks completes the name of a stack in the command's namespace. After an error, it returns no names, because
// a shell does not show messages from a completion.
func completeStacks(command *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	cluster, err := kube.FlagsOf(command).Connect(command.Root().Version)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(contextOf(command), completionTime)
	defer cancel()
	stacks, err := cluster.Stacks(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	names := make([]string, 0, len(stacks))
	for i := range stacks {
		names = append(names, stacks[i].Name)
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeNamespaces completes the names of namespaces.
func completeNamespaces(command *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
	cluster, err := kube.FlagsOf(command).Connect(command.Root().Version)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	ctx, cancel := context.WithTimeout(contextOf(command), completionTime)
	defer cancel()
	names, err := cluster.Namespaces(ctx)
	if err != nil {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

func contextOf(command *cobra.Command) context.Context {
	if ctx := command.Context(); ctx != nil {
		return ctx
	}
	return context.Background()
}

// completeConfig returns a completion with names from the kubeconfig.
func completeConfig(namesIn func(*clientcmdapi.Config) []string) cobra.CompletionFunc {
	return func(command *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		rules := clientcmd.NewDefaultClientConfigLoadingRules()
		rules.ExplicitPath = flagOf(command, "kubeconfig")
		config, err := rules.Load()
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return namesIn(config), cobra.ShellCompDirectiveNoFileComp
	}
}
