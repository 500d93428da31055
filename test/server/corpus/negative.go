package corpus

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// Answer is the server's reaction to a mistake.
type Answer string

const (
	// Refused means that the server does not read the configuration, or does not start with it.
	Refused Answer = "rejects"
	// Ignored means that the server starts and does not use the value.
	Ignored Answer = "ignores"
	// Taken means that the server starts and uses the value. The mistake takes effect later, or never.
	Taken Answer = "accepts"
	// Unasked means that the mistake is not part of the server's configuration.
	Unasked Answer = "does not receive"
)

// Negative contains a mistake that the checks report, and the configuration that the server would read without the
// checks.
type Negative struct {
	// Name begins with the name of the check, for example api/unknown.
	Name string
	// Release is the line of the case.
	Release *release.Release
	// Answer is the expected reaction of the server to the mistake. It shows whether a check is correct.
	Answer Answer
	// Says is a regular expression for the message with which the server rejects the mistake.
	Says string
	// Why is the reason why the operator reports a mistake that the server accepts, or that only the spec can contain. It
	// is empty for checks that use the data of a release.
	Why string
	// Listed means that the server rejects the mistake when a provider lists its models, which some releases do only at
	// the first start in a process.
	Listed bool
	mistake
}

// mistake contains one mistake in two forms: in the user's object, and in the server's configuration.
type mistake struct {
	// wrong is the user's object with the mistake. It is nil if the mistake is in a value of a Secret.
	wrong *Case
	// right is a similar object that the operator accepts. change adds the mistake to its configuration.
	right  *Case
	change func(config fields)
	// raw is the configuration with the mistake, if change cannot create it.
	raw string
	// env contains invalid values of Secrets.
	env map[string]string
	// value, if set, checks a value instead of the object.
	value func() error
}

// Told returns the messages for the mistake, without the warnings that the accepted object also causes. The result
// refusal reports whether the stack is rejected.
func (n *Negative) Told() (lines []string, refusal bool, err error) {
	if n.value != nil {
		return []string{n.value().Error()}, true, nil
	}
	wrong, err := n.wrong.Run()
	if err != nil {
		return nil, false, err
	}
	if wrong.Refused != "" {
		return strings.Split(wrong.Refused, "\n"), true, nil
	}
	var before []stackconfig.Finding
	if n.right != nil && n.right != n.wrong {
		right, err := n.right.Run()
		if err != nil {
			return nil, false, err
		}
		before = right.Warnings
	}
	for _, warning := range wrong.Warnings {
		if !slices.Contains(before, warning) {
			lines = append(lines, warning.String())
		}
	}
	return lines, false, nil
}

// Question contains the configuration with the mistake, and the configuration without it.
type Question struct {
	Config, Without string
	Env             map[string]string
	// Odd means that Config is not necessarily valid YAML.
	Odd bool
}

// Question returns the input for the server. If the operator rejects the object that it must accept, the case is
// invalid, and Question returns an error.
func (n *Negative) Question() (*Question, error) {
	outcome, err := n.right.Run()
	if err != nil {
		return nil, err
	}
	if outcome.Refused != "" {
		return nil, fmt.Errorf("%s of %s: the correct object is rejected: %s", n.Name, n.Release.Line, outcome.Refused)
	}
	env := maps.Clone(outcome.Env)
	maps.Copy(env, n.env)
	q := &Question{Config: string(outcome.Config), Without: string(outcome.Config), Env: env}
	switch {
	case n.raw != "":
		q.Config, q.Odd = n.raw, true
	case n.accepted() != nil:
		wrong := n.accepted()
		q.Config, q.Env = string(wrong.Config), wrong.Env
	case n.change != nil:
		data, err := changed(outcome.Config, n.change)
		if err != nil {
			return nil, fmt.Errorf("%s of %s: %w", n.Name, n.Release.Line, err)
		}
		q.Config = string(data)
	}
	return q, nil
}

// accepted returns the outcome of a mistake that causes only a warning, or nil if the stack is rejected.
func (n *Negative) accepted() *Outcome {
	if n.wrong == nil || n.wrong == n.right {
		return nil
	}
	outcome, err := n.wrong.Run()
	if err != nil || outcome.Refused != "" {
		return nil
	}
	return outcome
}

// changed returns a configuration after a change.
func changed(config []byte, change func(config fields)) ([]byte, error) {
	var tree fields
	if err := yaml.Unmarshal(config, &tree); err != nil {
		return nil, fmt.Errorf("read configuration: %w", err)
	}
	change(tree)
	data, err := yaml.Marshal(tree)
	if err != nil {
		return nil, fmt.Errorf("write configuration: %w", err)
	}
	return data, nil
}

// negatives creates the negative cases of a line.
type negatives struct {
	rel *release.Release
	m   *maker
	all []Negative
	// small is a stack with one provider and the server's stores. config is its configuration.
	small  *Case
	config []byte
}

// Negatives returns mistakes that the checks report for an offered line, in a fixed order.
func Negatives(rel *release.Release) []Negative {
	n := newNegatives(rel)
	n.bases()
	n.variables()
	n.apis()
	n.dependencies()
	n.providerTypes()
	n.providerKeys()
	n.unrouted()
	n.scalars()
	n.rules()
	n.storage()
	n.models()
	n.names()
	n.tools()
	n.references()
	n.sections()
	n.settings()
	n.probes()
	n.disabled()
	n.declared()
	n.supplied()
	n.secrets()
	n.ownChoices()
	return n.all
}

func newNegatives(rel *release.Release) *negatives {
	n := &negatives{rel: rel, m: &maker{rel: rel}}
	n.small = n.own(n.smallSpec(nil))
	outcome, err := n.small.Run()
	if err != nil || outcome.Refused != "" {
		// an error is a bug in this package
		panic(fmt.Sprintf("corpus: the small stack of %s: %v %s", rel.Line, err, outcome.Refused))
	}
	n.config = outcome.Config
	return n
}

// smallSpec returns the spec of the small stack with additional fields.
func (n *negatives) smallSpec(more fields) fields {
	spec := fields{"providers": fields{"inference": n.vllm(nil)}, "storage": fields{"kv": fields{}, "sql": fields{}}}
	maps.Copy(spec, more)
	return spec
}

// vllm returns the provider of the small stack with additional fields.
func (n *negatives) vllm(more fields) fields {
	p := fields{"id": "vllm", "provider": "vllm", "endpoint": "http://vllm.example:8000"}
	maps.Copy(p, more)
	return p
}

// own returns a stack with an empty base.
func (n *negatives) own(spec fields) *Case { return n.over([]byte(n.m.nothing()), spec) }

// over returns a stack with the given base configuration.
func (n *negatives) over(base []byte, spec fields) *Case {
	spec["baseConfig"] = fields{"configMapName": baseConfig, "key": "config.yaml"}
	c := newCase(n.rel, "negative", starter, base, false, spec)
	return &c
}

// listed returns the small stack with a base that lists its APIs.
func (n *negatives) listed(spec fields) *Case {
	return n.over([]byte(n.m.nothing()+"apis: [inference]\n"), n.smallSpec(spec))
}

// base returns the configuration of the small stack after a change.
func (n *negatives) base(change func(config fields)) []byte {
	data, err := changed(n.config, change)
	if err != nil {
		panic(fmt.Sprintf("corpus: %s: %v", n.rel.Line, err)) // the configuration was generated, so it can be parsed
	}
	return data
}

// inBase returns a mistake in a base that is otherwise correct.
func (n *negatives) inBase(change func(config fields)) mistake {
	return mistake{wrong: n.over(n.base(change), n.again()), right: n.small, change: change}
}

// inBaseOf returns a mistake in a base that is otherwise the configuration of a stack.
func (n *negatives) inBaseOf(right *Case, change func(config fields)) mistake {
	outcome, err := right.Run()
	if err != nil || outcome.Refused != "" {
		panic(fmt.Sprintf("corpus: %s: the correct object of a mistake is rejected: %v %s", n.rel.Line, err, outcome.Refused))
	}
	data, err := changed(outcome.Config, change)
	if err != nil {
		panic(fmt.Sprintf("corpus: %s: %v", n.rel.Line, err))
	}
	return mistake{wrong: n.over(data, n.again()), right: right, change: change}
}

// again returns a spec that does not change the providers of the base.
func (n *negatives) again() fields { return fields{"networking": fields{"port": 9000}} }

// inSpec returns a mistake in the small stack's spec.
func (n *negatives) inSpec(more fields, change func(config fields)) mistake {
	return mistake{wrong: n.own(n.smallSpec(more)), right: n.small, change: change}
}

// inVLLM returns a mistake in the small stack's provider.
func (n *negatives) inVLLM(more fields, change func(config fields)) mistake {
	return n.inSpec(fields{"providers": fields{"inference": n.vllm(more)}}, func(config fields) {
		change(configOf(config, "inference"))
	})
}

// nextTo returns a mistake that the fields in the parameter wrong add to the small stack. The parameter right contains
// the corresponding correct fields.
func (n *negatives) nextTo(right, wrong fields, change func(config fields)) mistake {
	return mistake{wrong: n.own(n.smallSpec(wrong)), right: n.own(n.smallSpec(right)), change: change}
}

// refused adds a mistake that the server also rejects, when it reads the configuration or when it starts.
func (n *negatives) refused(name, says string, what mistake) {
	n.all = append(n.all, Negative{Name: name, Release: n.rel, Answer: Refused, Says: says, mistake: what})
}

// ignored adds a mistake that causes a warning about a value without effect.
func (n *negatives) ignored(name string, what mistake) {
	n.all = append(n.all, Negative{Name: name, Release: n.rel, Answer: Ignored, mistake: what})
}

// choice adds a mistake that the operator reports although the server accepts it or never reads it.
func (n *negatives) choice(name string, answer Answer, why string, what mistake) {
	n.all = append(n.all, Negative{Name: name, Release: n.rel, Answer: answer, Why: why, mistake: what})
}

// configOf returns the config of the first provider of an API.
func configOf(config fields, api string) fields { return firstProvider(config, api)["config"].(fields) }

func firstProvider(config fields, api string) fields {
	return config["providers"].(fields)[api].([]any)[0].(fields)
}

// addProvider adds a provider at the end of an API's list.
func addProvider(config fields, api string, provider fields) {
	all := config["providers"].(fields)
	list, _ := all[api].([]any)
	all[api] = append(list, provider)
}

// at returns the mapping at the path that the parameter keys specifies, and creates the mapping if it does not exist.
func at(config fields, keys ...string) fields {
	for _, key := range keys {
		inner, ok := config[key].(fields)
		if !ok {
			inner = fields{}
			config[key] = inner
		}
		config = inner
	}
	return config
}
