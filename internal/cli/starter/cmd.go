package starter

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/spf13/cobra"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
)

type initOptions struct {
	answers Answers
	// output is the file to write. Empty or "-" means standard output. If output is empty, ask sets it to the last answer.
	output string
	force  bool
}

const (
	initHelp = `Write a v1alpha2 LlamaStackDistribution with comments. It specifies the release of the
server, a model provider, the models, the storage, and optionally a host name for
clients outside the cluster. If no flag sets one of these values, the command asks for
each of them. An empty answer selects the default in brackets. If a flag such as
--provider sets one of these values, the command asks no questions. If standard input
ends before you answer all questions, the command fails and writes no file.

The command does not write Secrets. For each Secret, the manifest has a
comment that contains a template without values. The manifest passes
kubectl llamastack validate.`

	initExample = `  # answer questions
  kubectl llamastack init

  # write a stack with a vLLM server
  kubectl llamastack init my-stack --provider vllm --endpoint http://vllm:8000 --secret vllm-creds/token \
    --model llama3.2-8b -o stack.yaml

  # write a stack with state in PostgreSQL, and with a host name for clients outside the cluster
  kubectl llamastack init my-stack --provider openai --secret openai/key --store postgres --store-secret pg/url \
    --expose llama.example.com -o stack.yaml`
)

// Command returns the command init.
func Command(streams app.Streams) *cobra.Command {
	options := initOptions{}
	command := &cobra.Command{
		Use:     "init [NAME]",
		Short:   "Write the first manifest of a stack, with comments",
		Long:    initHelp,
		Example: initExample,
		Args:    cobra.MaximumNArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) == 1 {
				options.answers.Name = args[0]
			}
			return runInit(command, streams, options)
		},
	}
	options.addFlags(command)
	completeInit(command)
	return command
}

// answerFlags are the flags that answer a question. If one of them is set, the command asks no questions.
var answerFlags = []string{
	"provider", "endpoint", "secret", "setting", "model", "store", "volume-size", "store-endpoint", "store-secret",
	"release",
	"distribution", "expose",
}

func (o *initOptions) addFlags(command *cobra.Command) {
	flags, a := command.Flags(), &o.answers
	flags.StringVar(&a.Provider, "provider", "", "type of the model provider, for example vllm, ollama or openai")
	flags.StringVar(&a.Endpoint, "endpoint", "", "URL of the provider (default: the URL of its public service)")
	flags.StringVar(&a.Secret, "secret", "", "NAME/KEY of the Secret with the API key of the provider (default: no API key)")
	flags.StringArrayVar(&a.Settings, "setting", nil, "provider setting as KEY=VALUE; can be repeated")
	flags.StringArrayVar(&a.Models, "model", nil, "model to register, with the name that the provider uses; can be repeated")
	flags.StringVar(&a.Store, "store", "", "storage for the server's state: "+strings.Join(Stores(), ", ")+
		" (default: "+StoreSQLite+")")
	flags.StringVar(&a.VolumeSize, "volume-size", "", "with --store sqlite or redis: size of the volume (default: "+DefaultVolumeSize+")")
	flags.StringVar(&a.StoreEndpoint, "store-endpoint", "",
		"with --store redis: HOST:PORT (default: "+DefaultStoreEndpoint+")")
	flags.StringVar(&a.StoreSecret, "store-secret", "",
		"NAME/KEY of the Secret with the PostgreSQL connection string or the Redis password "+
			"(default: <name>-postgres/url, or no password)")
	flags.StringVar(&a.Release, "release", "", "server release, for example 0.7 or 0.7.3 (default: the operator's default)")
	flags.StringVar(&a.Distribution, "distribution", "",
		"distribution of the server (default: "+DefaultDistribution+")")
	flags.StringVar(&a.Expose, "expose", "", "host name at which clients outside the cluster reach the server (default: the server is reachable only inside the cluster)")
	flags.StringVarP(&a.Namespace, "namespace", "n", "", "namespace to write into the manifest (default: no namespace)")
	flags.StringVarP(&o.output, "output", "o", "", "file to write, or - for standard output (default: standard output, or the answer to the last "+
		"question)")
	flags.BoolVar(&o.force, "force", false, "overwrite the file")
}

func runInit(command *cobra.Command, streams app.Streams, options initOptions) error {
	p := app.NewPrinter(streams)
	asks := true
	for _, name := range answerFlags {
		asks = asks && !command.Flags().Changed(name)
	}
	if asks {
		q := &questions{in: bufio.NewScanner(command.InOrStdin()), p: p}
		if err := q.ask(&options); err != nil {
			return err
		}
	}
	return options.create(streams.Out, p)
}

// create writes the manifest for the answers, and prints warnings, notes and the next commands.
func (o *initOptions) create(out io.Writer, p app.Printer) error {
	plan, errs := Check(o.answers)
	if len(errs) > 0 {
		return errs[0]
	}
	if err := o.write(plan.Manifest(), out); err != nil {
		return err
	}
	for _, warning := range plan.outcome.Warnings {
		p.Warning(warning)
	}
	for _, note := range plan.outcome.Notes {
		p.Note(note)
	}
	if o.toFile() {
		p.OK(o.output)
		printNextSteps(p, plan, o.output)
	}
	return nil
}

func (o *initOptions) toFile() bool { return o.output != "" && o.output != "-" }

// writable returns an error if the file exists already, or its folder does not exist. The command checks this before it
// asks further questions.
func (o *initOptions) writable() error {
	if !o.toFile() {
		return nil
	}
	if _, err := os.Stat(filepath.Dir(o.output)); err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	if _, err := os.Lstat(o.output); err == nil && !o.force {
		return o.exists()
	}
	return nil
}

func (o *initOptions) exists() error {
	return fmt.Errorf("--output: %q already exists; specify another file, or use --force to overwrite the existing file", o.output)
}

// write writes the manifest. It overwrites a file only with --force.
func (o *initOptions) write(data []byte, out io.Writer) error {
	if !o.toFile() {
		_, err := out.Write(data)
		return err
	}
	mode := os.O_WRONLY | os.O_CREATE | os.O_EXCL
	if o.force {
		mode = os.O_WRONLY | os.O_CREATE | os.O_TRUNC
	}
	file, err := os.OpenFile(o.output, mode, 0o644) //nolint:gosec // a manifest without secrets, for everyone to read
	if errors.Is(err, fs.ErrExist) {
		return o.exists()
	}
	if err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	_, err = file.Write(data)
	if err := errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("--output: %w", err)
	}
	return nil
}

// shellWord returns a file name as one word of a shell command.
func shellWord(file string) string {
	if strings.HasPrefix(file, "-") {
		file = "./" + file
	}
	if plainWord.MatchString(file) {
		return file
	}
	return "'" + strings.ReplaceAll(file, "'", `'\''`) + "'"
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./:@%+=,-]+$`)

// printNextSteps prints the commands that create the Secrets and the stack.
func printNextSteps(p app.Printer, plan *Plan, file string) {
	p.Line("next:")
	for _, command := range plan.Commands() {
		p.Line("  %s", command)
	}
	p.Line("  kubectl llamastack validate -f %s", shellWord(file))
	p.Line("  kubectl apply -f %s", shellWord(file))
}

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
