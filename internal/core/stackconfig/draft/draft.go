package draft

import (
	"cmp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// Draft is a configuration while it is generated.
type Draft struct {
	// Intent is the user's intent.
	Intent *intent.Intent
	// Release is the release that reads the configuration, or the best guess if Unknown is true.
	Release *release.Release
	Unknown bool
	// Published reports whether the image is a published one. Another image can add provider types and set variables.
	Published bool
	// OwnBase reports whether the user wrote the base. If so, the user also gets warnings about keys that Release ignores.
	OwnBase bool
	// Root is the tree of the configuration.
	Root *yaml.Node
	// Base is the root of the tree of the base configuration. Do not change it.
	Base   *yaml.Node
	report *Report

	// Directory is the directory of the SQLite files whose paths the base does not set.
	Directory string
	// Distribution is the name of the distribution in default paths.
	Distribution string
	// Index holds the providers in the configuration.
	Index Index
	// Disabled holds the APIs and providers that the user disabled.
	Disabled Disabled
	// Dropped is the set of the base's providers that spec.distribution.baseProviders removed. A key consists of the API
	// and the ID.
	Dropped map[[2]string]bool

	// errors, warnings and ignorances count the findings of the report. ignorances counts the warnings about ignored parts
	// of the user's configuration. warned is the set of reported warnings.
	errors, warnings, ignorances tally
	warned                       map[Finding]bool

	// env lists the variables that the configuration reads. set holds their names.
	env []EnvVar
	set map[string]bool
}

// New returns a Draft that starts with a copy of a base. directory is the directory of the running pods' SQLite files.
// It is empty when no pods run.
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

// Finish completes the list of findings and returns the report. Do not add findings afterwards.
func (d *Draft) Finish() *Report {
	d.countRest()
	return d.report
}

// OriginOf returns the origin of a value that was written into the draft, and the zero Origin for a value from the
// base.
func (d *Draft) OriginOf(value *yaml.Node) Origin { return d.report.origins[value] }

// Variables returns the variables that the configuration reads, sorted by name.
func (d *Draft) Variables() []EnvVar {
	slices.SortFunc(d.env, func(a, b EnvVar) int { return strings.Compare(a.Name, b.Name) })
	return d.env
}

// distributionName returns the distribution's name in the base. If the base has none, it returns the name in the spec
// or, if the spec has none either, the name of the stack.
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

// Place is the destination of a value: a key in a mapping, or an item in a sequence.
type Place struct {
	parent *yaml.Node
	key    string
	item   int
}

// Under returns the place of a key.
func Under(mapping *yaml.Node, key string) Place { return Place{parent: mapping, key: key} }

// ItemOf returns the place of the i-th item.
func ItemOf(sequence *yaml.Node, i int) Place { return Place{parent: sequence, item: i} }

// EndOf returns the place after the last item.
func EndOf(sequence *yaml.Node) Place { return Place{parent: sequence, item: len(sequence.Content)} }

// Write writes a value into the configuration and records its origin. Steps use Write or WriteField to write all values
// that are not from the base.
func (d *Draft) Write(at Place, value *yaml.Node, origin Origin) {
	switch {
	case at.parent.Kind == yaml.MappingNode:
		yamlnode.Set(at.parent, at.key, value)
	case at.item < len(at.parent.Content):
		at.parent.Content[at.item] = value
	default:
		at.parent.Content = append(at.parent.Content, value)
	}
	// An empty list in the base is often written as []. Write removes this style, so that a list with items is in block
	// style, like other lists.
	at.parent.Style &^= yaml.FlowStyle
	d.report.origins[value] = origin
}

// Section returns a mapping below another mapping. It adds the mapping when it does not exist.
func (d *Draft) Section(parent *yaml.Node, key string, origin Origin) *yaml.Node {
	return d.existing(parent, key, yamlnode.Map, origin)
}

func (d *Draft) existing(parent *yaml.Node, key string, empty func() *yaml.Node, origin Origin) *yaml.Node {
	if found := yamlnode.Get(parent, key); !yamlnode.IsNull(found) {
		return found
	}
	made := empty()
	d.Write(Under(parent, key), made, origin)
	return made
}

// WriteField does the same as Write, for a mapping in which many fields are written.
func (d *Draft) WriteField(fields *yamlnode.Fields, key string, value *yaml.Node, origin Origin) {
	fields.Set(key, value)
	fields.Mapping().Style &^= yaml.FlowStyle
	d.report.origins[value] = origin
}

// List returns a sequence below a mapping. It adds the sequence when it does not exist.
func (d *Draft) List(parent *yaml.Node, key string, origin Origin) *yaml.Node {
	return d.existing(parent, key, func() *yaml.Node { return yamlnode.Seq() }, origin)
}

// ReleaseDefault returns the origin of a value that the release needs and that neither the user nor the base sets.
func (d *Draft) ReleaseDefault() Origin { return Origin{Note: "default of release " + d.Release.Line} }

// SecretVariable adds a variable for a reference to a Secret, and returns the text that refers to the variable.
func (d *Draft) SecretVariable(ref *intent.SecretRef) string {
	d.AddEnv(EnvVar{Name: ref.EnvVar, SecretName: ref.Name, SecretKey: ref.Key, FieldPath: ref.Path.String()})
	return envref.To(ref.EnvVar)
}

// AddEnv adds a variable that the configuration reads. It ignores a variable whose name it has already added.
func (d *Draft) AddEnv(variable EnvVar) {
	if !d.set[variable.Name] {
		d.set[variable.Name] = true
		d.env = append(d.env, variable)
	}
}

// sqliteDirectory is the variable for the directory of SQLite files in the server's own configurations.
const sqliteDirectory = "SQLITE_STORE_DIR"

// dataDirectory returns the directory of the SQLite files whose paths the base does not set. Without a `storage`
// section, the server keeps SQLite files in a directory that all distributions share. If the section is added later,
// for example with the first resource of a stack, the stack keeps using that directory.
func (d *Draft) dataDirectory(running string) string {
	all := d.Release.Runtime.DataDir + "/distributions"
	if !yamlnode.IsNull(yamlnode.Get(d.Root, "storage")) || d.Release.Storage.Required || d.Release.Storage.Inline {
		return envref.WithDefault(sqliteDirectory, all+"/"+d.Distribution)
	}
	return cmp.Or(running, envref.WithDefault(sqliteDirectory, all))
}

// ServeAPI adds an API to the list of APIs that the server serves. Without a list or, in some releases, with an empty
// list, the server already serves all APIs. In these cases, ServeAPI changes nothing.
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

// ServesAPI reports whether the server starts an API. Without a list of APIs, the server starts all of them. An empty
// list has the same effect in every release, even if the server then has no endpoints (server fact 56).
func (d *Draft) ServesAPI(api string) bool {
	listed := yamlnode.Items(yamlnode.Get(d.Root, "apis"))
	return len(listed) == 0 || slices.ContainsFunc(listed, func(item *yaml.Node) bool { return item.Value == api })
}
