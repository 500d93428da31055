package main

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

// document is the extracted data of a line, which the overlays correct. Its own fields hide those fields of the
// embedded Document that have another form in the extracted data. The method encode fills the hidden fields.
type document struct {
	release.Document

	StorageRows  storageRows               `json:"storage"`
	ToolRows     toolRows                  `json:"tools"`
	OfflineRows  offlineRows               `json:"offline"`
	ProviderRows map[string]*provider.Type `json:"providers"` // keyed by api/type
	Shipped      map[string]*shipped       `json:"distributions"`
	// ModelSettings adds facts to References, keyed by path.
	ModelSettings map[string]modelSetting `json:"model_settings"`
}

type storageRows struct {
	Inline   bool                        `json:"inline"`
	Required bool                        `json:"required"`
	Backends map[string]*release.Backend `json:"backends"`
	Stores   []release.Store             `json:"stores"`
}

type toolRows struct {
	MCP         string `json:"mcp"`
	MCPURLKey   string `json:"mcp_url_key"`
	MCPProvider string `json:"mcp_provider"`
	// Names contains the tool group of each tool, and Providers contains the provider types of a tool group.
	Names     map[string]string   `json:"names"`
	Providers map[string][]string `json:"providers"`
	Automatic bool                `json:"automatic"`
}

// offlineRows contains facts for several lines. The keys of Services and Downloads, and the items of ServicesAtStart,
// are providers, written as api/type. A line ignores the providers that it does not have.
type offlineRows struct {
	Variables map[string]string `json:"variables"`
	Tokenizer string            `json:"tokenizer"`
	// Services are the hosts of public services that providers call when no endpoint is set.
	Services map[string]string `json:"services"`
	// ServicesAtStart are the providers whose services the server must reach to start.
	ServicesAtStart []string `json:"services_at_start"`
	// Downloads are the hosts from which providers load files when they first need them.
	Downloads map[string]string `json:"downloads"`
}

// shipped is a distribution with its config.
type shipped struct {
	// Like names another distribution. The config has all sections of that distribution's config, and Config contains only
	// those that differ.
	Like      string             `json:"like"`
	Variables []release.Variable `json:"variables"`
	Config    provider.Fields    `json:"config"`

	last string
}

// modelSetting describes a setting that names a model.
type modelSetting struct {
	ModelType      string `json:"model_type"`
	CheckedAtStart bool   `json:"checked_at_start"`
}

// decode reads the extracted data of a line, and rejects unknown fields.
func decode(data []byte) (*document, error) {
	var doc document
	if err := decodeStrict(data, &doc); err != nil {
		return nil, fmt.Errorf("decode release data: %w", err)
	}
	if doc.Line == "" || doc.Version == "" {
		return nil, fmt.Errorf("decode release data: line %q or version %q is empty", doc.Line, doc.Version)
	}
	return &doc, nil
}

// addEarlier adds the distributions that only earlier releases of the line ship.
func (d *document) addEarlier(data fs.FS) error {
	names, err := fs.Glob(data, d.Line+".*.json")
	if err != nil {
		return err
	}
	for _, name := range names {
		text, err := fs.ReadFile(data, name)
		if err != nil {
			return err
		}
		var earlier struct {
			Line          string              `json:"line"`
			Version       string              `json:"version"`
			Distributions map[string]*shipped `json:"distributions"`
		}
		if err := decodeStrict(text, &earlier); err != nil {
			return fmt.Errorf("decode earlier distribution %q: %w", name, err)
		}
		for distribution, row := range earlier.Distributions {
			row.last = earlier.Version
			d.Shipped[distribution] = row
		}
	}
	return nil
}

// encode returns the file that the product reads.
func (d *document) encode() ([]byte, error) {
	if len(d.Covers) == 0 {
		d.Covers = []string{d.Version}
	}
	d.Storage = d.StorageRows.build()
	for i := range d.Resources {
		row := &d.Resources[i]
		row.PublicAlias = cmp.Or(row.PublicAlias, row.PublicID)
	}
	for name, class := range d.Classes {
		if !slices.Contains([]schema.Extra{schema.ExtraIgnore, schema.ExtraAllow, schema.ExtraForbid}, class.Extra) {
			return nil, fmt.Errorf("class %q: unknown extra %q", name, class.Extra)
		}
	}
	for _, part := range []func() error{d.setProviders, d.setTools, d.setDistributions, d.setReferences} {
		if err := part(); err != nil {
			return nil, err
		}
	}
	return json.Marshal(d.Document)
}

func (s *storageRows) build() release.Storage {
	out := release.Storage{Inline: s.Inline, Required: s.Required, Stores: s.Stores}
	for _, name := range slices.Sorted(maps.Keys(s.Backends)) {
		row := s.Backends[name]
		row.Type, row.TypeValue = name, cmp.Or(row.TypeValue, name)
		out.Backends = append(out.Backends, *row)
	}
	for i := range out.Stores {
		store := &out.Stores[i]
		store.Path = cmp.Or(store.Path, "storage.stores."+store.Name)
		if s.Inline {
			store.Class = nil
		}
	}
	return out
}

// setProviders sets the provider types, with their services and downloads.
func (d *document) setProviders() error {
	rows := &d.OfflineRows
	d.Offline.Tokenizer = rows.Tokenizer
	for _, name := range slices.Sorted(maps.Keys(rows.Variables)) {
		d.Offline.Variables = append(d.Offline.Variables, release.OfflineVariable{Name: name, Value: rows.Variables[name]})
	}
	d.Providers = map[string]map[string]*provider.Type{}
	for name, t := range d.ProviderRows {
		var ok bool
		if t.API, t.Type, ok = strings.Cut(name, "/"); !ok {
			return fmt.Errorf("provider %q is not written as api/type", name)
		}
		t.Service, t.Downloads = rows.Services[name], rows.Downloads[name]
		t.ServiceAtStart = slices.Contains(rows.ServicesAtStart, name)
		if d.Providers[t.API] == nil {
			d.Providers[t.API] = map[string]*provider.Type{}
		}
		d.Providers[t.API][t.Type] = t
	}
	return nil
}

func (d *document) setTools() error {
	rows := &d.ToolRows
	groups := maps.Clone(rows.Providers)
	if groups == nil {
		groups = map[string][]string{}
	}
	for _, t := range d.ProviderRows {
		if t.ToolGroup != "" {
			groups[t.ToolGroup] = append(groups[t.ToolGroup], t.Type)
		}
	}
	d.Tools = release.Tools{MCP: rows.MCP, MCPURLKey: rows.MCPURLKey, MCPProvider: rows.MCPProvider}
	for _, name := range slices.Sorted(maps.Keys(rows.Names)) {
		group := rows.Names[name]
		providers, ok := groups[group]
		if !ok {
			return fmt.Errorf("tool %q refers to the group %q, which no provider has", name, group)
		}
		d.Tools.BuiltIn = append(d.Tools.BuiltIn, release.BuiltInTool{
			Name: name, Group: group, Automatic: rows.Automatic, Providers: slices.Sorted(slices.Values(providers)),
		})
	}
	return nil
}

func (d *document) setDistributions() error {
	d.Distributions = map[string]*release.Distribution{}
	for name, row := range d.Shipped {
		config, err := d.wholeConfig(row)
		if err != nil {
			return fmt.Errorf("distribution %q: %w", name, err)
		}
		var text bytes.Buffer
		enc := yaml.NewEncoder(&text)
		enc.SetIndent(2)
		if err := enc.Encode(provider.Node(config)); err != nil {
			return fmt.Errorf("write the config of distribution %q: %w", name, err)
		}
		if err := enc.Close(); err != nil {
			return fmt.Errorf("write the config of distribution %q: %w", name, err)
		}
		d.Distributions[name] = &release.Distribution{
			Name: name, Last: row.last, Variables: row.Variables, YAML: text.String(),
			PathVariables: pathVariables(row.Variables, d.Runtime.DataDir),
		}
	}
	return nil
}

// wholeConfig returns the config of a distribution with all its sections.
func (d *document) wholeConfig(row *shipped) (provider.Fields, error) {
	if row.Like == "" {
		return row.Config, nil
	}
	like := d.Shipped[row.Like]
	if like == nil || like.Like != "" {
		return nil, fmt.Errorf("it is like %q, which has no config with all sections", row.Like)
	}
	config := slices.Clone(like.Config)
	for _, section := range row.Config {
		at := slices.IndexFunc(config, func(f provider.Field) bool { return f.Key == section.Key })
		if at < 0 {
			return nil, fmt.Errorf("%q, which it is like, has no section %q", row.Like, section.Key)
		}
		config[at] = section
	}
	return config, nil
}

// pathVariables returns the variables whose default is below the data directory.
func pathVariables(variables []release.Variable, dataDir string) []release.PathVariable {
	var out []release.PathVariable
	for _, v := range variables {
		for _, value := range v.Defaults {
			if rest, ok := strings.CutPrefix(value, dataDir+"/"); ok {
				out = append(out, release.PathVariable{Name: v.Name, Default: value, Rest: rest})
				break
			}
		}
	}
	return out
}

// setReferences removes the references whose settings do not exist in the line's configuration, and completes the
// others.
func (d *document) setReferences() error {
	data, err := json.Marshal(d.Document)
	if err != nil {
		return err
	}
	r, err := release.Decode(data)
	if err != nil {
		return err
	}
	d.References = slices.DeleteFunc(d.References, func(ref release.Reference) bool {
		return !r.TopLevel.HasPath(ref.Path)
	})
	for i := range d.References {
		known := d.ModelSettings[d.References[i].Path]
		d.References[i].ModelType, d.References[i].CheckedAtStart = known.ModelType, known.CheckedAtStart
	}
	return nil
}
