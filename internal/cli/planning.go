package cli

import (
	"cmp"
	"errors"

	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// planningFlags are the flags of diff and upgrade-check, which plan stacks in files and in a cluster.
type planningFlags struct {
	kube.Flags
	files          []string
	operatorConfig string
}

// add adds the flags for the files.
func (f *planningFlags) add(command *cobra.Command, filesHelp, configHelp string) {
	flags := command.Flags()
	flags.StringArrayVarP(&f.files, "filename", "f", nil, filesHelp+"; - for standard input; can be repeated")
	flags.StringVar(&f.operatorConfig, "operator-config", "",
		"file with the operator's ConfigMap, "+names.OperatorConfigMap+" (default: "+configHelp+")")
}

// sources returns the files, and the namespace for objects that do not set a namespace.
func (f *planningFlags) sources(namespace string) sources {
	return sources{files: f.files, namespace: cmp.Or(namespace, f.Namespace, dryrun.DefaultNamespace)}
}

// reader connects to the cluster, and returns a reader for it.
func (f *planningFlags) reader(version string) (*reader, error) {
	cluster, err := f.Connect(version)
	if err != nil {
		return nil, err
	}
	return newReader(cluster, version), nil
}

// orSummary returns an error as a rejection with a summary. It does not change a rejection.
func orSummary(err error, summary string) error {
	if _, said := errors.AsType[*rejection](err); err == nil || said {
		return err
	}
	return &rejection{problems: []string{err.Error()}, summary: summary}
}
