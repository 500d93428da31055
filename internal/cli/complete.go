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
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
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
		return completed(func(c *cobra.Command) []string { return slices.Sorted(maps.Keys(kubeconfig(c).Contexts)) })
	case flag == "cluster":
		return completed(func(c *cobra.Command) []string { return slices.Sorted(maps.Keys(kubeconfig(c).Clusters)) })
	case flag == "user":
		return completed(func(c *cobra.Command) []string { return slices.Sorted(maps.Keys(kubeconfig(c).AuthInfos)) })
	case flag == "namespace" && onCluster:
		return completed(namespaces)
	case flag == "release":
		return cobra.FixedCompletions(release.Offered(), cobra.ShellCompDirectiveNoFileComp)
	case flag == "output" && strings.Contains(command.Flags().Lookup("output").Usage, "table, json or yaml"):
		return cobra.FixedCompletions([]string{formTable, formJSON, formYAML}, cobra.ShellCompDirectiveNoFileComp)
	case flag == "api":
		return completed(func(c *cobra.Command) []string { return camelCased(apisOf(c)) })
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
	for flag, names := range map[string]func(*cobra.Command) []string{
		"provider":     func(c *cobra.Command) []string { return starter.Providers(flagOf(c, "release")) },
		"store":        func(*cobra.Command) []string { return starter.Stores() },
		"distribution": func(*cobra.Command) []string { return distribution.Known(distribution.Overrides{}) },
	} {
		must(command.RegisterFlagCompletionFunc(flag, completed(names)))
	}
	must(command.RegisterFlagCompletionFunc("setting",
		func(command *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
			return settingKeys(command), cobra.ShellCompDirectiveNoFileComp | cobra.ShellCompDirectiveNoSpace
		}))
}

// completed returns a completion with the names that a function returns for the incomplete command line.
func completed(names func(*cobra.Command) []string) cobra.CompletionFunc {
	return func(command *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return names(command), cobra.ShellCompDirectiveNoFileComp
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

// completeStacks completes the name of a stack in the command's namespace.
func completeStacks(command *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return namesOnCluster(command, func(ctx context.Context, cluster *kube.Cluster) (names []string, err error) {
		stacks, err := cluster.Stacks(ctx)
		for i := range stacks {
			names = append(names, stacks[i].Name)
		}
		return names, err
	}), cobra.ShellCompDirectiveNoFileComp
}

func namespaces(command *cobra.Command) []string {
	return namesOnCluster(command, func(ctx context.Context, cluster *kube.Cluster) ([]string, error) {
		return cluster.Namespaces(ctx)
	})
}

// namesOnCluster returns names from the cluster that the incomplete command line selects. After an error, it returns no
// names, because a shell does not show messages from a completion.
func namesOnCluster(
	command *cobra.Command, list func(context.Context, *kube.Cluster) ([]string, error),
) []string {
	cluster, err := kube.FlagsOf(command).Connect(command.Root().Version)
	if err != nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(command.Context(), completionTime)
	defer cancel()
	names, err := list(ctx, cluster)
	if err != nil {
		return nil
	}
	return names
}

// kubeconfig returns the kubeconfig for the incomplete command line, or an empty one after an error.
func kubeconfig(command *cobra.Command) *clientcmdapi.Config {
	rules := clientcmd.NewDefaultClientConfigLoadingRules()
	rules.ExplicitPath = flagOf(command, "kubeconfig")
	config, err := rules.Load()
	if err != nil {
		return clientcmdapi.NewConfig()
	}
	return config
}
