package starter

import (
	"bufio"
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// questions asks questions, and reads the answers line by line.
type questions struct {
	in *bufio.Scanner
	p  app.Printer
}

// ask asks for all values of a manifest.
func (q *questions) ask(o *initOptions) error {
	if err := o.writable(); err != nil {
		return err
	}
	a := &o.answers
	for _, ask := range []func(*Answers) error{q.server, q.provider, q.models, q.store, q.exposure} {
		if err := ask(a); err != nil {
			return err
		}
	}
	if o.output != "" {
		return nil
	}
	for {
		var err error
		if o.output, err = q.line("File to write, or - for standard output", a.Name+".yaml"); err != nil {
			return err
		}
		if err = o.writable(); err == nil {
			return nil
		}
		q.p.Problem(err.Error())
	}
}

func (q *questions) server(a *Answers) error {
	if a.Name == "" {
		if err := q.text(a, &a.Name, FlagName, "Name of the stack", DefaultName); err != nil {
			return err
		}
	}
	return q.text(a, &a.Release, FlagRelease,
		"Server release: "+strings.Join(release.Offered(), ", ")+", or empty for the operator's default", "")
}

func (q *questions) provider(a *Answers) error {
	q.p.Line("Model providers: %s", strings.Join(Providers(a.Release), ", "))
	if err := q.text(a, &a.Provider, FlagProvider, "Provider", DefaultProvider); err != nil {
		return err
	}
	kind, ok := a.KindOf()
	if !ok {
		return nil
	}
	if kind.EndpointKey != "" {
		question, preset := "URL of the provider, or empty for its public service", ""
		if NeedsEndpoint(kind) {
			question, preset = "URL of the provider", "http://"+kind.Short()+":8000"
		}
		if err := q.text(a, &a.Endpoint, FlagEndpoint, question, preset); err != nil {
			return err
		}
	}
	if kind.CredentialKey != "" {
		if err := q.secret(a, kind); err != nil {
			return err
		}
	}
	return q.required(a, kind)
}

func (q *questions) secret(a *Answers, kind *provider.Type) error {
	question, preset := "Secret with the API key, as NAME/KEY, or empty for none", ""
	if kind.NeedsCredential() && a.Endpoint == "" {
		question, preset = "Secret with the API key, as NAME/KEY", DefaultSecret(kind)
	}
	return q.text(a, &a.Secret, FlagSecret, question, preset)
}

// required asks for the settings that the server needs to start.
func (q *questions) required(a *Answers, kind *provider.Type) error {
	for _, key := range Required(kind) {
		before := a.Settings
		field := FlagSetting + ": spec.providers.inference.settings." + key
		err := q.checked(a, field, "Setting "+key, "", func(answer string) (empty bool) {
			a.Settings = append(slices.Clone(before), key+"="+answer)
			return answer == ""
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (q *questions) models(a *Answers) error {
	return q.checked(a, FlagModel, "Models, separated by commas, or empty for none", "", func(answer string) (empty bool) {
		a.Models = nil
		for model := range strings.SplitSeq(answer, ",") {
			if model = strings.TrimSpace(model); model != "" {
				a.Models = append(a.Models, model)
			}
		}
		return false
	})
}

func (q *questions) store(a *Answers) error {
	if err := q.text(a, &a.Store, FlagStore, "Storage: "+strings.Join(Stores(), ", "),
		StoreSQLite); err != nil {
		return err
	}
	if a.Store == StoreRedis {
		if err := q.text(a, &a.StoreEndpoint, FlagStoreEndpoint, "Address of Redis, HOST:PORT",
			DefaultStoreEndpoint); err != nil {
			return err
		}
		if err := q.text(a, &a.StoreSecret, FlagStoreSecret, "Secret with the password, as NAME/KEY, or empty for none", ""); err != nil {
			return err
		}
	}
	switch a.Store {
	case StorePostgres:
		return q.text(a, &a.StoreSecret, FlagStoreSecret, "Secret with the connection string, as NAME/KEY", a.Name+"-postgres/url")
	case StoreSQLite, StoreRedis:
		return q.text(a, &a.VolumeSize, FlagVolumeSize, "Size of the volume", DefaultVolumeSize)
	default:
		return nil
	}
}

func (q *questions) exposure(a *Answers) error {
	return q.text(a, &a.Expose, FlagExpose, "Host name for clients outside the cluster, or empty for none", "")
}

// text asks a question until the answer is valid.
func (q *questions) text(a *Answers, into *string, flag, question, preset string) error {
	return q.checked(a, flag, question, preset, func(answer string) (empty bool) {
		*into = answer
		return false
	})
}

// checked asks a question until no error begins with `about`. It ignores errors about other answers, which other
// questions report. The function `set` sets the answer, and reports whether a required answer is empty.
func (q *questions) checked(a *Answers, about, question, preset string, set func(answer string) (empty bool)) error {
	for {
		answer, err := q.line(question, preset)
		if err != nil {
			return err
		}
		if set(answer) {
			continue
		}
		tried := *a
		if tried.Provider == "" { // the next question
			tried.Provider, tried.Endpoint = DefaultProvider, "http://"+DefaultProvider
		}
		_, errs := Check(tried)
		i := slices.IndexFunc(errs, func(err *Error) bool { return strings.HasPrefix(err.Error(), about+": ") })
		if i < 0 {
			return nil
		}
		q.p.Problem(errs[i].Error())
	}
}

// line asks a question once, and returns the answer, or the default for an empty answer. It returns an error if the
// input ends before the answer, because an absent answer does not select the default.
func (q *questions) line(question, preset string) (string, error) {
	shown := ""
	if preset != "" {
		shown = " [" + preset + "]"
	}
	_, _ = fmt.Fprintf(q.p.W, "%s%s: ", question, shown)
	if q.in.Scan() {
		return cmp.Or(strings.TrimSpace(q.in.Text()), preset), nil
	}
	q.p.Line("")
	if err := q.in.Err(); err != nil {
		return "", fmt.Errorf("read the answer to the question %q from standard input: %w", question, err)
	}
	return "", fmt.Errorf("standard input ended before you answered the question %q; answer the questions on a "+
		"terminal, or set flags: see kubectl llamastack init --help", question)
}
