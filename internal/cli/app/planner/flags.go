package planner

import (
	"cmp"

	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/manifests"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// Flags are the flags of diff and upgrade-check, which plan stacks in files and in a cluster.
type Flags struct {
	kube.Flags
	Files          []string
	OperatorConfig string
}

// Add adds the flags for the files.
func (f *Flags) Add(command *cobra.Command, filesHelp, configHelp string) {
	flags := command.Flags()
	flags.StringArrayVarP(&f.Files, "filename", "f", nil, filesHelp+"; - for standard input; can be repeated")
	flags.StringVar(&f.OperatorConfig, "operator-config", "",
		"file with the operator's ConfigMap, "+names.OperatorConfigMap+" (default: "+configHelp+")")
}

// Sources returns the files, and the namespace for objects that do not set a namespace.
func (f *Flags) Sources(namespace string) manifests.Sources {
	return manifests.Sources{Files: f.Files, Namespace: cmp.Or(namespace, f.Namespace, dryrun.DefaultNamespace)}
}

// Reader connects to the cluster, and returns a reader for it.
func (f *Flags) Reader(version string) (*Reader, error) {
	cluster, err := f.Connect(version)
	if err != nil {
		return nil, err
	}
	return New(cluster, version), nil
}
