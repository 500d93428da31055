package release

import (
	"encoding/json"
	"fmt"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/provider"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

// Document is the file of a release line in data.zip.zst. The classes to which it refers have only a name, until Decode
// replaces them with those in Classes.
type Document struct {
	Release

	APIs          []API                                `json:"apis"`
	Providers     map[string]map[string]*provider.Type `json:"providers"`
	Resources     []Resource                           `json:"resources"`
	Distributions map[string]*Distribution             `json:"distributions"`
	Classes       map[string]*Class                    `json:"classes"`
}

// Class is a schema.Class that is written with all its fields, and not only as a reference.
type Class schema.Class

// Decode returns the Release for the file of a release line. It does not check for unknown fields, because the tests of
// hack/release-data do so for the embedded files.
func Decode(data []byte) (*Release, error) {
	var doc Document
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("decode release data: %w", err)
	}
	r := &doc.Release
	r.apis, r.providers, r.resources, r.distributions = doc.APIs, doc.Providers, doc.Resources, doc.Distributions
	if err := doc.link(); err != nil {
		return nil, fmt.Errorf("decode the data of release %s: %w", r.Line, err)
	}
	return r, nil
}

// link replaces all references to classes with the classes.
func (d *Document) link() error {
	classes, err := d.parse()
	link := func(reference **schema.Class, from string) {
		name := ""
		if *reference != nil {
			name = (*reference).Name
		}
		if *reference = classes[name]; *reference == nil && err == nil {
			err = fmt.Errorf("%s refers to the class %q, which has no description", from, name)
		}
	}
	link(&d.TopLevel, "top_level")
	link(&d.Server, "server")
	for i := range d.Storage.Backends {
		link(&d.Storage.Backends[i].Class, "backend "+d.Storage.Backends[i].Type)
	}
	for i := range d.Storage.Stores {
		if !d.Storage.Inline {
			link(&d.Storage.Stores[i].Class, "store "+d.Storage.Stores[i].Name)
		}
	}
	for i := range d.Resources {
		link(&d.Resources[i].Class, "resource "+d.Resources[i].Kind)
	}
	for _, types := range d.Providers {
		for _, t := range types {
			link(&t.Config, "provider "+t.Type)
		}
	}
	return err
}

// parse parses the types of all keys, and returns the classes. Classes can refer to each other, so all classes exist
// before their keys are parsed.
func (d *Document) parse() (map[string]*schema.Class, error) {
	classes := make(map[string]*schema.Class, len(d.Classes))
	for name, class := range d.Classes {
		class.Name = name
		classes[name] = (*schema.Class)(class)
	}
	parser := schema.NewParser(classes)
	for name, class := range classes {
		for i := range class.Keys {
			key := &class.Keys[i]
			kind, err := parser.Parse(key.Type.String())
			if err != nil {
				return nil, fmt.Errorf("class %q: key %q: %w", name, key.Name, err)
			}
			key.Type = kind
		}
		class.SetKeys(class.Keys)
	}
	return classes, nil
}
