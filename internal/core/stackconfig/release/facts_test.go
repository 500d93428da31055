package release_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

// For each line, TestFacts checks all data that comes from rules and overlays and not from the server's package. The
// file of the first line has all facts. The file of another line has the facts that differ from the line before.
func TestFacts(t *testing.T) {
	got, before := map[string][]byte{}, []byte(nil)
	for _, line := range release.Lines() {
		text := []byte(facts(lineOf(t, line)))
		if before == nil {
			got[line+".txt"] = text
		} else {
			got[line+".diff"] = golden.Diff(before, text)
		}
		before = text
	}
	golden.Dir(t, "testdata/facts", got)
}

// facts returns a release as text, with one fact on each line.
func facts(r *release.Release) string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("package %s module %s covers %v", r.Package, r.Module, r.Covers)
	line("runtime %s", oneField(fmt.Sprintf("%+v", r.Runtime)))
	for _, name := range r.TopLevel.Names() {
		key, _ := r.TopLevel.Key(name)
		line("key %s required:%v", name, key.Required)
	}
	line("server keys %v", r.Server.Names())
	for _, name := range r.APIs() {
		api, _ := r.API(name)
		line("api %+v", api)
	}
	line("storage inline:%v required:%v", r.Storage.Inline, r.Storage.Required)
	for _, k := range r.Storage.Backends {
		line("backend %s type:%s family:%s directory:%v password:%s inHost:%v encode:%v uri:%s", k.Type, k.TypeValue, k.Family,
			k.NeedsDirectory, k.CredentialKey, k.CredentialInHost, k.EncodePassword, k.ConnectionStringKey)
	}
	for _, s := range r.Storage.Stores {
		line("store %s at:%s family:%s required:%v with:%v by:%s list of:%s default:%s", s.Name, s.Path, s.Family, s.Required,
			s.RequiredWith, s.RequiredBy, s.ListOf, inline(s.Default))
	}
	for _, res := range r.Resources() {
		line("resource %s section:%q id:%s provider_id:%s needs provider:%v api:%s public:%s alias:%s any:%s again:%v dropped:%v %s",
			res.Kind, res.Section, res.IDKey, res.ProviderIDKey, res.NeedsProvider, res.API, res.PublicID, res.PublicAlias,
			res.AnyProvider, res.ListedAgain, res.Dropped, res.Instead)
	}
	for _, res := range r.Resources() {
		if res.RegistryType != "" {
			line("registered %s type:%s once:%v", res.Kind, res.RegistryType, res.PrefixOnce)
		}
	}
	line("registry %+v", r.Registry)
	for _, ref := range r.References {
		line("reference %+v", ref)
	}
	line("tools mcp:%s url:%s provider:%s", r.Tools.MCP, r.Tools.MCPURLKey, r.Tools.MCPProvider)
	for _, tool := range r.Tools.BuiltIn {
		line("tool %+v", tool)
	}
	eachProvider(r, func(p *provider.Type) { line("%s", providerFacts(p)) })
	eachClass(r, func(class *schema.Class) {
		for _, rule := range class.Rules {
			line("rule %s: %s %v if %v", class.Name, rule.Kind, rule.Keys, rule.If)
		}
	})
	for _, name := range r.Distributions() {
		distribution, _ := r.Distribution(name)
		line("distribution %s last:%s", name, distribution.Last)
	}
	starter, _ := r.Distribution("starter")
	line("paths of starter %+v", starter.PathVariables)
	line("offline tokenizer:%s", r.Offline.Tokenizer)
	for _, variable := range r.Offline.Variables {
		line("offline %s=%s", variable.Name, variable.Value)
	}
	for _, gone := range r.Removed {
		line("removed %s %s after %s; %s", gone.Kind, gone.Name, gone.Last, gone.Instead)
	}
	return b.String()
}

func providerFacts(p *provider.Type) string {
	var b strings.Builder
	fmt.Fprintf(&b, "provider %s/%s", p.API, p.Type)
	for _, fact := range []struct{ name, value string }{
		{"endpoint", p.EndpointKey + p.EndpointPath},
		{"port", p.PortKey},
		{"credential", p.CredentialKey},
		{"region", p.RegionKey},
		{"group", p.ToolGroup},
		{"resources", strings.Join(p.ResourceIDs, ",")},
		{"entries need", p.ResourceNeeds},
		{"broken", p.Broken},
		{"kept", p.KeptForm},
		{"calls", p.Service},
		{"downloads", p.Downloads},
	} {
		if fact.value != "" {
			fmt.Fprintf(&b, " %s:%s", fact.name, fact.value)
		}
	}
	for _, fact := range []struct {
		name string
		is   bool
	}{
		{"endpoint ignored", p.EndpointIgnored},
		{"endpoint needed", p.EndpointNeeded},
		{"credential optional", p.CredentialOptional},
		{"in memory", p.InMemory},
		{"calls at start", p.ServiceAtStart},
		{"registers nothing", p.RegistersNothing},
	} {
		if fact.is {
			fmt.Fprintf(&b, " (%s)", fact.name)
		}
	}
	for _, key := range p.Config.Keys {
		if key.Required {
			fmt.Fprintf(&b, " %s!", key.Name)
		}
	}
	for _, d := range p.RequiredDefaults {
		fmt.Fprintf(&b, " %s=%s", d.Key, inline(d.Value))
	}
	return b.String()
}

// eachClass calls a function for every class of a release, once for each name.
func eachClass(r *release.Release, do func(*schema.Class)) {
	seen := map[string]bool{}
	var visit func(*schema.Class)
	var within func(*schema.Expr)
	visit = func(class *schema.Class) {
		if class == nil || seen[class.Name] {
			return
		}
		seen[class.Name] = true
		do(class)
		for i := range class.Keys {
			within(class.Keys[i].Type)
		}
	}
	within = func(e *schema.Expr) {
		visit(e.Class)
		for _, arg := range e.Args {
			within(arg)
		}
	}
	visit(r.TopLevel)
	visit(r.Server)
	for i := range r.Storage.Backends {
		visit(r.Storage.Backends[i].Class)
	}
	for _, resource := range r.Resources() {
		visit(resource.Class)
	}
	eachProvider(r, func(p *provider.Type) { visit(p.Config) })
}

// inline returns a value in the data as one line, with its fields in their original order.
func inline(value any) string {
	fields, ok := value.(provider.Fields)
	if !ok {
		return fmt.Sprint(value)
	}
	words := make([]string, len(fields))
	for i, f := range fields {
		words[i] = f.Key + ": " + inline(f.Value)
	}
	return "{" + strings.Join(words, ", ") + "}"
}

// oneField puts each field of a printed struct on its own line.
func oneField(text string) string {
	var b strings.Builder
	for word := range strings.FieldsSeq(strings.Trim(text, "{}")) {
		if strings.Contains(word, ":") {
			b.WriteString("\n ")
		}
		b.WriteString(" " + word)
	}
	return b.String()
}

// eachLine runs a test for every release line.
func eachLine(t *testing.T, test func(t *testing.T, r *release.Release)) {
	t.Helper()
	for _, line := range release.Lines() {
		t.Run(line, func(t *testing.T) { test(t, lineOf(t, line)) })
	}
}

// lineOf returns the data of a release line.
func lineOf(t testing.TB, line string) *release.Release {
	t.Helper()
	match, err := release.Lookup(line)
	if err != nil {
		t.Fatal(err)
	}
	return match.Release
}
