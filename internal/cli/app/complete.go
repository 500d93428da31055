package app

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

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// completionTime bounds the duration of the requests for a completion, because the shell waits for the result.
const completionTime = 3 * time.Second

// manifestExtensions are the file extensions of manifests.
var manifestExtensions = []string{"yaml", "yml", "json"}

// CompleteFixed completes a flag that has a fixed list of values.
func CompleteFixed(command *cobra.Command, flag string, values []string) {
	Must(command.RegisterFlagCompletionFunc(flag, cobra.FixedCompletions(values, cobra.ShellCompDirectiveNoFileComp)))
}

// CompleteReleases completes a flag with the known release lines.
func CompleteReleases(command *cobra.Command, flag string) {
	CompleteFixed(command, flag, release.Lines())
}

// CompleteAll registers completions for the names of stacks and for flags. The name of a flag determines its
// completion. completeAll does not replace completions that a command has already registered.
func CompleteAll(root *cobra.Command) {
	for _, command := range root.Commands() {
		CompleteAll(command)
	}
	command := root
	command.LocalFlags().VisitAll(func(flag *pflag.Flag) {
		if _, known := command.GetFlagCompletionFunc(flag.Name); known {
			return
		}
		if complete := completionOf(command, flag.Name); complete != nil {
			Must(command.RegisterFlagCompletionFunc(flag.Name, complete))
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
		return Completed(func(c *cobra.Command) []string { return slices.Sorted(maps.Keys(kubeconfig(c).Contexts)) })
	case flag == "cluster":
		return Completed(func(c *cobra.Command) []string { return slices.Sorted(maps.Keys(kubeconfig(c).Clusters)) })
	case flag == "user":
		return Completed(func(c *cobra.Command) []string { return slices.Sorted(maps.Keys(kubeconfig(c).AuthInfos)) })
	case flag == "namespace" && onCluster:
		return Completed(namespaces)
	case flag == "release":
		return cobra.FixedCompletions(release.Offered(), cobra.ShellCompDirectiveNoFileComp)
	case flag == "output" && strings.Contains(command.Flags().Lookup("output").Usage, "table, json or yaml"):
		return cobra.FixedCompletions([]string{FormTable, FormJSON, FormYAML}, cobra.ShellCompDirectiveNoFileComp)
	default:
		return nil
	}
}

// FlagOf returns the value of a flag on the incomplete command line, or "".
func FlagOf(command *cobra.Command, name string) string {
	if flag := command.Flags().Lookup(name); flag != nil {
		return flag.Value.String()
	}
	return ""
}

// Completed returns a completion with the names that a function returns for the incomplete command line.
func Completed(names func(*cobra.Command) []string) cobra.CompletionFunc {
	return func(command *cobra.Command, _ []string, _ string) ([]string, cobra.ShellCompDirective) {
		return names(command), cobra.ShellCompDirectiveNoFileComp
	}
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
	rules.ExplicitPath = FlagOf(command, "kubeconfig")
	config, err := rules.Load()
	if err != nil {
		return clientcmdapi.NewConfig()
	}
	return config
}
