package stackconfig

import (
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/secretvalue"
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
	base    *yaml.Node
	version string
	report  *Report

	// directory is where SQLite files go that the base does not name.
	directory string
	// kvTable is the table with the stack's data; empty when nobody knows one.
	kvTable string

	// distribution is the name that default paths are made with.
	distribution string
	// index of the providers, filled by resolve and kept by providers.
	index index
	// off is what the user disabled.
	off disabled

	// registers reports whether the user registers resources, which the server keeps.
	registers bool
	// registry is where the server keeps them; nil when nothing has to be brought in line.
	registry *Registry

	// taken are the paths that removeSettings took out of the configuration, with
	// the entry that did.
	taken map[string]*field.Path

	// errors, warnings and ignorances count the findings of the report, warned are the warnings among them.
	errors, warnings, ignorances tally
	warned                       map[Finding]bool

	models []PublicModel
	env    []EnvVar
	// set are the names of env.
	set     map[string]bool
	derived []secretvalue.Derived
	// dirs have to exist before the server starts.
	dirs []string
}

func newDraft(in Input) *draft {
	d := &draft{
		in:      in.Intent,
		rel:     in.Release,
		unknown: in.ReleaseUnknown,
		kvTable: in.KVTable,
		root:    yamlnode.Clone(in.Base.Root()),
		base:    in.Base.Root(),
		version: in.Base.Version(),
		report:  &Report{origins: make(map[*yaml.Node]Origin)},
		set:     make(map[string]bool),
	}
	d.report.root = d.root
	d.distribution = distributionName(d)
	d.directory = d.dataDirectory(in.Directory)
	return d
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
