package chat

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/kube"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/server"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/target"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
)

// maxQuestion is the maximum size in bytes of a question on standard input.
const maxQuestion = 1 << 20

type chatOptions struct {
	kube.Flags
	target.ServerFlags
	model, system string
	maxTokens     int
	timeout       time.Duration
}

const chatHelp = `Send a question to a model of a stack, and print the answer as it arrives. The
command forwards a local port to a pod of the stack. The arguments after the name
of the stack are the question. Use - to read the question from standard input.
Without a question, the command lists the models. You can leave out the name of the
only stack in the namespace, unless the question begins with a word that could be a
name: in lowercase letters, without spaces.

If the server has several models that answer questions, the command uses the first
such model in spec.resources.models. To select another model, set --model to its ID,
or to the name that the provider uses for it.

You need permission to get the stack and its Deployment, to list ReplicaSets and pods,
and to create pods/portforward.
The exit code is 1 if the server or the model does not respond.`

// Command returns the command chat.
func Command(streams app.Streams, version string) *cobra.Command {
	options := chatOptions{}
	command := &cobra.Command{
		Use:   "chat [NAME] [QUESTION…]",
		Short: "Ask a model a question, or list the models of a stack",
		Long:  chatHelp,
		Example: `  kubectl llamastack chat my-stack
  kubectl llamastack chat my-stack "What is a llama?"
  kubectl llamastack chat my-stack --model vllm/llama3.2-8b --system "Answer in one word." - < question.txt`,
		RunE: func(command *cobra.Command, args []string) error {
			ctx, stop := app.Interruptible(command)
			defer stop()
			return runChat(ctx, command.InOrStdin(), streams, version, args, &options)
		},
	}
	options.AddNamespace(command)
	options.AddServer(command)
	flags := command.Flags()
	flags.StringVar(&options.model, "model", "",
		"ID of the model, or the name that the provider uses for the model (default: the only model that answers "+
			"questions, or the first such model in spec.resources.models)")
	flags.StringVar(&options.system, "system", "", "instructions for the model, sent before the question")
	flags.IntVar(&options.maxTokens, "max-tokens", 0, "maximum number of tokens in the answer (default: the server's default)")
	flags.DurationVar(&options.timeout, "timeout", 5*time.Minute, "time limit for the whole answer")
	return command
}

func runChat(
	ctx context.Context, stdin io.Reader, streams app.Streams, version string, args []string, options *chatOptions,
) error {
	if err := options.check(); err != nil {
		return err
	}
	name, words := split(args)
	question, err := readQuestion(words, stdin)
	if err != nil {
		return err
	}
	t, err := target.Connect(ctx, &options.Flags, version, name)
	if err != nil {
		return err
	}
	c, closeAll, err := t.Server(ctx, stdin, app.NewPrinter(streams), &options.ServerFlags, options.timeout)
	if err != nil {
		return err
	}
	defer closeAll()
	ctx, cancel := context.WithTimeout(ctx, options.timeout)
	defer cancel()
	models, err := c.Models(ctx)
	if err != nil {
		return t.Failed(err)
	}
	if question == "" {
		return listModels(streams, models)
	}
	return options.ask(ctx, t, c, models, question, streams)
}

// ask sends a question to the chosen model, and prints the answer.
func (o *chatOptions) ask(
	ctx context.Context, t *target.Target, c *server.Client, models []server.Model, question string, streams app.Streams,
) error {
	model, err := server.Choose(models, o.model, wanted(t))
	if err != nil {
		return app.Rejected(err)
	}
	p := app.NewPrinter(streams)
	p.Note("model " + model.ID)
	reason, err := c.Chat(ctx, server.Question{
		Model: model.ID, System: o.system, Text: question, MaxTokens: o.maxTokens,
	}, streams.Out)
	fmt.Fprintln(streams.Out)
	if err != nil {
		return t.Failed(err)
	}
	if reason == "length" {
		p.Note("the answer is cut off at the maximum number of tokens; set a larger --max-tokens")
	}
	return nil
}

// split returns the name of the stack in the arguments, if any, and the words of the question. An argument that cannot
// be the name of an object begins the question.
func split(args []string) (name, words []string) {
	if len(args) == 0 || len(validation.IsDNS1123Subdomain(args[0])) > 0 {
		return nil, args
	}
	return args[:1], args[1:]
}

// check returns an error for an invalid value of a flag.
func (o *chatOptions) check() error {
	switch {
	case o.maxTokens < 0:
		return fmt.Errorf("--max-tokens %d: must be at least 1", o.maxTokens)
	case o.timeout <= 0:
		return fmt.Errorf("--timeout %v: must be more than 0", o.timeout)
	default:
		return nil
	}
}

// readQuestion returns the question in the arguments, or the question on standard input for "-".
func readQuestion(words []string, stdin io.Reader) (string, error) {
	question := strings.Join(words, " ")
	if len(words) != 1 || words[0] != "-" {
		return question, nil
	}
	data, err := io.ReadAll(io.LimitReader(stdin, maxQuestion+1))
	switch {
	case err != nil:
		return "", fmt.Errorf("read the question from standard input: %w", err)
	case len(data) > maxQuestion:
		return "", fmt.Errorf("the question on standard input has more than %d bytes; shorten the question",
			maxQuestion)
	}
	if question = strings.TrimSpace(string(data)); question == "" {
		return "", errors.New("the question on standard input is empty; write a question to standard input")
	}
	return question, nil
}

// wanted returns the models in the spec of the stack.
func wanted(t *target.Target) []server.Wanted {
	var found []server.Wanted
	in, _ := intent.FromObject(t.Stack) // models that cannot be decoded are omitted
	for _, model := range in.Models {
		found = append(found, server.Wanted{Name: model.Name, Provider: model.Provider})
	}
	return found
}

func listModels(streams app.Streams, models []server.Model) error {
	rows := [][]string{{"MODEL", "TYPE", "PROVIDER"}}
	for _, model := range models {
		rows = append(rows, []string{model.ID, model.Type, app.Dash(model.Provider)})
	}
	var page bytes.Buffer
	app.WriteTable(&page, rows)
	if _, err := page.WriteTo(streams.Out); err != nil {
		return fmt.Errorf("write the models: %w", err)
	}
	return nil
}
