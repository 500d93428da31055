package stackconfig

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/yamlnode"
)

// draft is the configuration in the making.
type draft struct {
	in  *intent.Intent
	rel *release.Release
	// unknown says that rel is a guess.
	unknown bool
	root    *yaml.Node
	// base is the root of the base, not to be changed.
	base   *yaml.Node
	report *Report

	// directory is where SQLite files go that the base does not name.
	directory string
	// distribution is the name that default paths are made with.
	distribution string
	// index of the providers, filled by resolve and kept by providers.
	index index
	// off is what the user disabled.
	off disabled

	// errors, warnings and ignorances count the findings of the report, warned are the warnings among them.
	errors, warnings, ignorances tally
	warned                       map[Finding]bool

	// env are the variables that the configuration reads, set are their names.
	env []EnvVar
	set map[string]bool
}

// newDraft begins with a copy of a base.
func newDraft(base *baseconfig.Base, in *intent.Intent, rel *release.Release) *draft {
	d := &draft{
		in:     in,
		rel:    rel,
		root:   yamlnode.Clone(base.Root()),
		base:   base.Root(),
		report: &Report{origins: make(map[*yaml.Node]Origin)},
		set:    make(map[string]bool),
	}
	d.report.root = d.root
	d.distribution = distributionName(d)
	d.directory = d.dataDirectory("")
	return d
}

// finish ends the list of findings and returns them. Nothing is told after it.
func (d *draft) finish() *Report {
	d.countRest()
	return d.report
}

// originOf is where a value comes from that was written into the draft; nothing for one of the base.
func (d *draft) originOf(value *yaml.Node) Origin { return d.report.origins[value] }

// variables are the variables that the configuration reads, sorted by name.
func (d *draft) variables() []EnvVar {
	slices.SortFunc(d.env, func(a, b EnvVar) int { return strings.Compare(a.Name, b.Name) })
	return d.env
}

// distributionName is the base's own name, else the one the user wrote.
func distributionName(d *draft) string {
	for _, key := range []string{d.rel.Runtime.DistributionKey, "distro_name", "image_name"} {
		if name := yamlnode.Text(d.root, key); name != "" && !strings.ContainsAny(name, "/${}") {
			return name
		}
	}
	if d.in.Distribution.Name != "" {
		return d.in.Distribution.Name
	}
	return d.in.Name
}

// place is where a value goes: under the key of a mapping, or at the end of a
// sequence.
type place struct {
	parent *yaml.Node
	key    string
	item   int
}

func under(mapping *yaml.Node, key string) place { return place{parent: mapping, key: key} }

func itemOf(sequence *yaml.Node, i int) place { return place{parent: sequence, item: i} }

func endOf(sequence *yaml.Node) place { return place{parent: sequence, item: len(sequence.Content)} }

// write puts a value into the configuration and notes where it comes from. Every
// value that is not the base's gets in through here.
func (d *draft) write(at place, value *yaml.Node, origin Origin) {
	switch {
	case at.parent.Kind == yaml.MappingNode:
		yamlnode.Set(at.parent, at.key, value)
	case at.item < len(at.parent.Content):
		at.parent.Content[at.item] = value
	default:
		at.parent.Content = append(at.parent.Content, value)
	}
	// An empty list of the base is often written as []: what gets an item becomes
	// a block like everything else.
	at.parent.Style &^= yaml.FlowStyle
	d.report.origins[value] = origin
}

// section is a mapping at the top of the configuration or below, made when it is
// not there.
func (d *draft) section(parent *yaml.Node, key string, origin Origin) *yaml.Node {
	if found := yamlnode.Get(parent, key); !yamlnode.IsNull(found) {
		return found
	}
	made := yamlnode.Map()
	d.write(under(parent, key), made, origin)
	return made
}

// writeField is write for a mapping of which many fields are written.
func (d *draft) writeField(fields *yamlnode.Fields, key string, value *yaml.Node, origin Origin) {
	fields.Set(key, value)
	fields.Mapping().Style &^= yaml.FlowStyle
	d.report.origins[value] = origin
}

// list is a sequence below a mapping, made when it is not there.
func (d *draft) list(parent *yaml.Node, key string, origin Origin) *yaml.Node {
	if found := yamlnode.Get(parent, key); !yamlnode.IsNull(found) {
		return found
	}
	made := yamlnode.Seq()
	d.write(under(parent, key), made, origin)
	return made
}

// releaseDefault is the origin of what the release needs and nobody wrote.
func (d *draft) releaseDefault() Origin { return Origin{Note: "default of release " + d.rel.Line} }

// secret makes a variable of a reference and gives back the text that stands for
// it in the configuration.
func (d *draft) secret(ref *intent.SecretRef) string {
	d.addEnv(EnvVar{Name: ref.EnvVar, SecretName: ref.Name, SecretKey: ref.Key, FieldPath: ref.Path.String()})
	return envref.To(ref.EnvVar)
}

func (d *draft) addEnv(variable EnvVar) {
	if !d.set[variable.Name] {
		d.set[variable.Name] = true
		d.env = append(d.env, variable)
	}
}

// sqliteDirectory is the variable that the server's own configurations take that directory from.
const sqliteDirectory = "SQLITE_STORE_DIR"

// dataDirectory is where SQLite files go that the base does not name. Without a section for storage, the server itself
// has them in a directory that all distributions share: a stack whose first resource adds that section keeps its files.
func (d *draft) dataDirectory(running string) string {
	all := d.rel.Runtime.DataDir + "/distributions"
	if !yamlnode.IsNull(yamlnode.Get(d.root, "storage")) || d.rel.Storage.Required || d.rel.Storage.Inline {
		return envref.WithDefault(sqliteDirectory, all+"/"+d.distribution)
	}
	return cmp.Or(running, envref.WithDefault(sqliteDirectory, all))
}

// serve adds an API to those the server shall serve. A base without a list
// serves all it has, and one with an empty list too, but for releases that take
// it at its word.
func (d *draft) serve(api string, origin Origin) {
	apis := yamlnode.Get(d.root, "apis")
	if yamlnode.IsNull(apis) || (len(apis.Content) == 0 && !d.rel.Runtime.EmptyAPIsServeNone) {
		return
	}
	for _, item := range apis.Content {
		if item.Value == api {
			return
		}
	}
	d.write(endOf(apis), yamlnode.String(api), origin)
}

// serves says whether the server has an API: it has all where none are listed.
func (d *draft) serves(api string) bool {
	listed := yamlnode.Items(yamlnode.Get(d.root, "apis"))
	return len(listed) == 0 || slices.ContainsFunc(listed, func(item *yaml.Node) bool { return item.Value == api })
}
