package check

import (
	"fmt"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/providers"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/schema"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// pathOverride is the field that names a user's own configuration.
const pathOverride = "spec.overrideConfig"

// Override compares a user's own configuration with the settings that a release reads. It reports unknown keys, types
// and APIs, invalid values of keys, and resources that their provider does not register. All findings are warnings,
// because an image can add its own types, so only the server can reject the file.
func Override(data []byte, rel *release.Release) []draft.Finding {
	base, err := baseconfig.Parse(data)
	if err != nil {
		return []draft.Finding{{Path: pathOverride, Message: err.Error()}}
	}
	d := draft.New(base, &intent.Intent{MoreVariables: true}, rel, "")
	draft.Resolve(d)
	c := overrideChecker{checker: checker{Draft: d, Finder: draft.NewFinder(d)}}
	problems := rel.TopLevel.Check(base.Root())
	for i := range problems {
		if value := c.NodeAt(problems[i].Path); problems[i].Kind == schema.UnknownKey && value != nil &&
			value.Kind == yaml.SequenceNode && len(value.Content) == 0 {
			continue // an empty list that only other releases read has no effect
		}
		c.found(problems[i].Path, c.messageOf(&problems[i], problems[i].Path))
	}
	for i, item := range yamlnode.Items(yamlnode.Get(base.Root(), "apis")) {
		if _, known := rel.API(item.Value); !known && !envref.In(item.Value) {
			c.found(fmt.Sprintf("apis[%d]", i), fmt.Sprintf("server release %s has no API %q%s; correct or remove this entry", rel.Line, item.Value,
				c.OtherRelease(item.Value)))
		}
	}
	c.providers()
	c.resources()
	return c.findings[:min(len(c.findings), maxOverrideFindings)]
}

// maxOverrideFindings limits the findings for one file. Fixing the first findings usually fixes the others too.
const maxOverrideFindings = 20

type overrideChecker struct {
	checker
	findings []draft.Finding
}

func (c *overrideChecker) found(path, message string) {
	if path != "" {
		message = path + ": " + message
	}
	c.findings = append(c.findings, draft.Finding{Path: pathOverride, ConfigPath: path, Message: message})
}

// providers reports providers of unknown APIs and types, and checks the config of each provider that exists when only
// the variables in the spec are set.
func (c *overrideChecker) providers() {
	external := !yamlnode.IsNull(yamlnode.Get(c.Root, "external_providers_dir"))
	for path, e := range c.Index.All {
		api, known := c.Release.API(e.API)
		switch {
		case !known || !api.Providable:
			c.found(path, fmt.Sprintf("server release %s has no API %q that accepts providers%s; correct or remove this section", c.Release.Line, e.API, c.OtherRelease(e.API)))
		case e.Kind == nil && !external && yamlnode.Get(e.Node, "module") == nil && !envref.In(e.ProviderType):
			c.found(path, fmt.Sprintf("%q is not a type of %s provider in release %s%s", e.ProviderType, draft.APIField(e.API), c.Release.Line,
				providers.MeantType(c.Draft, &intent.Provider{API: e.API, Type: e.ProviderType})))
		case e.Kind != nil && e.Enabled:
			problems := e.Kind.Config.Check(yamlnode.Get(e.Node, "config"))
			for i := range problems {
				c.found(draft.JoinPath(path+".config", problems[i].Path), problems[i].Message())
			}
		}
	}
}

// resources reports resources that their provider does not register.
func (c *overrideChecker) resources() {
	for _, known := range c.Release.Resources() {
		for i, item := range yamlnode.Items(c.ResourcesOf(known)) {
			id, condition := envref.Static(yamlnode.Text(item, "provider_id"))
			e := c.Index.Find(known.API, id)
			if e == nil || !e.Enabled || condition != "" {
				continue
			}
			if key, problem := refusal(known, item, e.Kind); problem != "" {
				c.found(draft.ItemPath(known, i)+"."+key, problem)
			}
		}
	}
}
