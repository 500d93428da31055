package draft

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

// Draft is the configuration in the making.
type Draft struct {
	// Intent is what the user wishes.
	Intent *intent.Intent
	// Release is the release that reads the configuration; a guess where Unknown is true.
	Release *release.Release
	Unknown bool
	// Root is the tree of the configuration.
	Root *yaml.Node
	// Base is the root of the base, not to be changed.
	Base   *yaml.Node
	report *Report

	// Directory is where SQLite files go that the base does not name.
	Directory string
	// Distribution is the name that default paths are made with.
	Distribution string
	// Index has the providers of the configuration.
	Index Index
	// Disabled is what the user takes away.
	Disabled Disabled

	// errors, warnings and ignorances count the findings of the report, warned are the warnings among them.
	errors, warnings, ignorances tally
	warned                       map[Finding]bool

	// env are the variables that the configuration reads, set are their names.
	env []EnvVar
	set map[string]bool
}

// New begins with a copy of a base. directory is where the SQLite files of what runs are, empty when nothing runs.
func New(base *baseconfig.Base, in *intent.Intent, rel *release.Release, directory string) *Draft {
	d := &Draft{
		Intent:  in,
		Release: rel,
		Root:    yamlnode.Clone(base.Root()),
		Base:    base.Root(),
		report:  &Report{origins: make(map[*yaml.Node]Origin)},
		set:     make(map[string]bool),
	}
	d.report.root = d.Root
	d.Distribution = distributionName(d)
	d.Directory = d.dataDirectory(directory)
	return d
}

// Finish ends the list of findings and returns them. Nothing is told after it.
func (d *Draft) Finish() *Report {
	d.countRest()
	return d.report
}

// OriginOf is where a value comes from that was written into the draft; nothing for one of the base.
func (d *Draft) OriginOf(value *yaml.Node) Origin { return d.report.origins[value] }

// Variables are the variables that the configuration reads, sorted by name.
func (d *Draft) Variables() []EnvVar {
	slices.SortFunc(d.env, func(a, b EnvVar) int { return strings.Compare(a.Name, b.Name) })
	return d.env
}

// distributionName is the base's own name, else the one the user wrote.
func distributionName(d *Draft) string {
	for _, key := range []string{d.Release.Runtime.DistributionKey, "distro_name", "image_name"} {
		if name := yamlnode.Text(d.Root, key); name != "" && !strings.ContainsAny(name, "/${}") {
			return name
		}
	}
	if d.Intent.Distribution.Name != "" {
		return d.Intent.Distribution.Name
	}
	return d.Intent.Name
}

// Place is where a value goes: under the key of a mapping, or at an item of a sequence.
type Place struct {
	parent *yaml.Node
	key    string
	item   int
}

// Under is the place of a key.
func Under(mapping *yaml.Node, key string) Place { return Place{parent: mapping, key: key} }

// ItemOf is the place of the i-th item.
func ItemOf(sequence *yaml.Node, i int) Place { return Place{parent: sequence, item: i} }

// EndOf is the place behind the last item.
func EndOf(sequence *yaml.Node) Place { return Place{parent: sequence, item: len(sequence.Content)} }

// Write puts a value into the configuration and notes where it comes from. Every
// value that is not the base's gets in through here.
func (d *Draft) Write(at Place, value *yaml.Node, origin Origin) {
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

// Section is a mapping at the top of the configuration or below, made when it is
// not there.
func (d *Draft) Section(parent *yaml.Node, key string, origin Origin) *yaml.Node {
	if found := yamlnode.Get(parent, key); !yamlnode.IsNull(found) {
		return found
	}
	made := yamlnode.Map()
	d.Write(Under(parent, key), made, origin)
	return made
}

// WriteField is Write for a mapping of which many fields are written.
func (d *Draft) WriteField(fields *yamlnode.Fields, key string, value *yaml.Node, origin Origin) {
	fields.Set(key, value)
	fields.Mapping().Style &^= yaml.FlowStyle
	d.report.origins[value] = origin
}

// List is a sequence below a mapping, made when it is not there.
func (d *Draft) List(parent *yaml.Node, key string, origin Origin) *yaml.Node {
	if found := yamlnode.Get(parent, key); !yamlnode.IsNull(found) {
		return found
	}
	made := yamlnode.Seq()
	d.Write(Under(parent, key), made, origin)
	return made
}

// ReleaseDefault is the origin of what the release needs and nobody wrote.
func (d *Draft) ReleaseDefault() Origin { return Origin{Note: "default of release " + d.Release.Line} }

// SecretVariable makes a variable of a reference and gives back the text that stands for
// it in the configuration.
func (d *Draft) SecretVariable(ref *intent.SecretRef) string {
	d.AddEnv(EnvVar{Name: ref.EnvVar, SecretName: ref.Name, SecretKey: ref.Key, FieldPath: ref.Path.String()})
	return envref.To(ref.EnvVar)
}

// AddEnv adds a variable that the configuration reads. The first one of a name counts.
func (d *Draft) AddEnv(variable EnvVar) {
	if !d.set[variable.Name] {
		d.set[variable.Name] = true
		d.env = append(d.env, variable)
	}
}

// sqliteDirectory is the variable that the server's own configurations take that directory from.
const sqliteDirectory = "SQLITE_STORE_DIR"

// dataDirectory is where SQLite files go that the base does not name. Without a section for storage, the server itself
// has them in a directory that all distributions share: a stack whose first resource adds that section keeps its files.
func (d *Draft) dataDirectory(running string) string {
	all := d.Release.Runtime.DataDir + "/distributions"
	if !yamlnode.IsNull(yamlnode.Get(d.Root, "storage")) || d.Release.Storage.Required || d.Release.Storage.Inline {
		return envref.WithDefault(sqliteDirectory, all+"/"+d.Distribution)
	}
	return cmp.Or(running, envref.WithDefault(sqliteDirectory, all))
}

// ServeAPI adds an API to those the server shall serve. A base without a list
// serves all it has, and one with an empty list too, but for releases that take
// it at its word.
func (d *Draft) ServeAPI(api string, origin Origin) {
	apis := yamlnode.Get(d.Root, "apis")
	if yamlnode.IsNull(apis) || (len(apis.Content) == 0 && !d.Release.Runtime.EmptyAPIsServeNone) {
		return
	}
	for _, item := range apis.Content {
		if item.Value == api {
			return
		}
	}
	d.Write(EndOf(apis), yamlnode.String(api), origin)
}

// ServesAPI reports whether the server has an API: it has all where none are listed.
func (d *Draft) ServesAPI(api string) bool {
	listed := yamlnode.Items(yamlnode.Get(d.Root, "apis"))
	return len(listed) == 0 || slices.ContainsFunc(listed, func(item *yaml.Node) bool { return item.Value == api })
}
