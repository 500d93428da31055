package manifests

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/spf13/cobra"
	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/definition"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/files"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/document"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/operatorconfig"
)

// Sources are the files from which a command reads objects.
type Sources struct {
	Files []string
	// Kustomizations are folders from which Kustomize builds manifests.
	Kustomizations []string
	// Selector selects stacks by their labels. Empty selects every stack.
	Selector string
	// Optional skips unreadable files that do not mention a stack, and allows files without a stack.
	Optional  bool
	Namespace string
	// OperatorConfig is a file with the operator's ConfigMap. Empty means that the command uses the operator's default
	// configuration.
	OperatorConfig string
}

// AddFlags adds the flags that name files, and requires at least one of them.
func (s *Sources) AddFlags(command *cobra.Command) {
	flags := command.Flags()
	flags.StringArrayVarP(&s.Files, "filename", "f", nil, "file or folder with manifests; - for standard input; can be repeated")
	flags.StringVarP(&s.Namespace, "namespace", "n", dryrun.DefaultNamespace, "namespace for objects that specify no namespace")
	flags.StringVar(&s.OperatorConfig, "operator-config", "",
		"file with the operator's ConfigMap, "+names.OperatorConfigMap+", whose settings the command uses")
	flags.StringArrayVarP(&s.Kustomizations, "kustomize", "k", nil,
		"folder with a kustomization.yaml, which kubectl builds; can be repeated")
	command.PreRunE = func(_ *cobra.Command, args []string) error {
		if len(s.Files)+len(s.Kustomizations) == 0 {
			return cmp.Or(NoArguments(command, args), errMissing)
		}
		return nil
	}
}

var errMissing = errors.New("name a manifest with --filename FILE or a folder with --kustomize FOLDER")

// NoArguments returns an error that shows how to name a manifest, if there is an argument.
func NoArguments(command *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	return fmt.Errorf("%q: name a manifest with --filename: %s -f %[1]s", args[0], command.CommandPath())
}

// AddSelector adds the flag that selects stacks by their labels.
func (s *Sources) AddSelector(command *cobra.Command) {
	command.Flags().StringVarP(&s.Selector, "selector", "l", "", "label selector for the stacks, for example team=a,env!=test")
}

// Documents returns the documents of all files and all kustomizations.
func (s *Sources) Documents(stdin io.Reader) ([]document.Document, error) {
	var documents []document.Document
	for _, path := range s.Files {
		found, err := files.Read(path, stdin)
		if err != nil {
			return nil, err
		}
		documents = append(documents, found...)
	}
	for _, folder := range s.Kustomizations {
		found, err := kustomized(folder)
		if err != nil {
			return nil, err
		}
		documents = append(documents, found...)
	}
	return documents, nil
}

// Names returns the files and the kustomizations for messages.
func (s *Sources) Names() []string { return slices.Concat(s.Files, s.Kustomizations) }

// Read returns the stacks and the objects that they refer to.
func (s *Sources) Read(stdin io.Reader, p app.Printer) (*dryrun.Manifests, error) {
	documents, err := s.Documents(stdin)
	if err != nil {
		return nil, err
	}
	found, err := s.selected(documents)
	if err != nil {
		return nil, err
	}
	for _, note := range intent.BoundedTexts(found.Notes) {
		if !s.Optional {
			p.Note(note)
		}
	}
	if s.OperatorConfig == "" {
		return found, nil
	}
	found.Config, err = OperatorConfig(s.OperatorConfig, stdin, p)
	return found, err
}

// selected returns the objects in documents, with only the stacks that the selector selects.
func (s *Sources) selected(documents []document.Document) (*dryrun.Manifests, error) {
	for i := range documents {
		documents[i].Listed = documents[i].Listed || s.Optional
	}
	found, err := Gather(documents, s.Names(), s.Namespace)
	if _, none := errors.AsType[*app.Rejection](err); none && s.Optional {
		return &dryrun.Manifests{}, nil
	}
	if err != nil {
		return nil, err
	}
	found.Now = time.Now()
	return found, choose(found, s.Selector)
}

// ReadStrictly is like read, but the stacks are also checked as the API server checks them. It is for commands about
// manifests that a user applies next.
func (s *Sources) ReadStrictly(stdin io.Reader, p app.Printer) (*dryrun.Manifests, error) {
	found, err := s.Read(stdin, p)
	if err != nil {
		return nil, err
	}
	found.Definition = definition.Check
	if slices.ContainsFunc(found.Stacks, func(s dryrun.Stack) bool { return !s.Older }) {
		go definition.Prepare()
	}
	return found, nil
}

// OperatorConfig returns the configuration in the operator's ConfigMap. For a key with an error, a running operator
// keeps the last valid value. This command has no such value, so it returns an error.
func OperatorConfig(path string, stdin io.Reader, p app.Printer) (operatorconfig.Config, error) {
	configMap, err := findOperatorConfig(path, stdin)
	if err != nil {
		return operatorconfig.Config{}, fmt.Errorf("--operator-config: %w", err)
	}
	return ConfigOf(configMap, path, p)
}

// ConfigOf parses the operator's ConfigMap. Each message begins with `path`, the source of the ConfigMap.
func ConfigOf(configMap *corev1.ConfigMap, path string, p app.Printer) (operatorconfig.Config, error) {
	config, errs := operatorconfig.Read(configMap, operatorconfig.Config{})
	var problems []string
	for _, err := range errs {
		message := path + ": " + names.OperatorConfigMap + ": " + intent.Message(err)
		if slices.Contains(operatorconfig.Keys(), operatorconfig.KeyOf(err)) {
			problems = append(problems, message)
		} else {
			p.Warning(message + "; the key has no effect")
		}
	}
	if len(problems) > 0 {
		return operatorconfig.Config{}, &app.Rejection{
			Problems: problems,
			Summary:  "correct these keys; a running operator keeps their previous values, which are not available to this command",
		}
	}
	return config, nil
}

// unreadConfig returns the error for a file that must contain the operator's ConfigMap but cannot be read.
func unreadConfig(doc document.Document, problem string) error {
	return &app.Rejection{
		Problems: []string{doc.File + ": " + problem},
		Summary:  "the operator's ConfigMap cannot be read",
	}
}

// operatorConfigIn returns the operator's ConfigMap in a document, or nil for any other object.
func operatorConfigIn(doc document.Document) (*corev1.ConfigMap, error) {
	switch {
	case doc.Data == nil && !doc.Listed:
		return nil, unreadConfig(doc, doc.Problem)
	case doc.Meta.Kind != "ConfigMap" || doc.Meta.APIVersion != "v1":
		return nil, nil
	}
	configMap := &corev1.ConfigMap{}
	if err := json.Unmarshal(doc.Data, configMap); err != nil {
		return nil, unreadConfig(doc, dryrun.DataProblem(doc.Meta.Kind, err))
	}
	if configMap.Name != names.OperatorConfigMap {
		return nil, nil
	}
	return configMap, nil
}

// findOperatorConfig returns the operator's ConfigMap in a file or folder.
func findOperatorConfig(path string, stdin io.Reader) (*corev1.ConfigMap, error) {
	documents, err := files.Read(path, stdin)
	if err != nil {
		return nil, err
	}
	var found *corev1.ConfigMap
	for _, doc := range documents {
		configMap, err := operatorConfigIn(doc)
		if err != nil {
			return nil, err
		}
		if configMap != nil && found != nil {
			return nil, fmt.Errorf("%s contains two ConfigMaps named %q; remove one of the ConfigMaps",
				path, names.OperatorConfigMap)
		}
		found = cmp.Or(configMap, found)
	}
	if found == nil {
		return nil, fmt.Errorf("%s does not contain ConfigMap %q; set --operator-config to a file with this ConfigMap",
			path, names.OperatorConfigMap)
	}
	return found, nil
}
