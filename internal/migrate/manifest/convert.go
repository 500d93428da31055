package manifest

import (
	"bytes"
	"fmt"
	"reflect"

	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha1"
	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/convert"
)

// Source is a stack in a user's manifest.
type Source struct {
	// Object is the stack as JSON values, with numbers as json.Number and without unknown fields. Convert changes it.
	Object map[string]any
	// Text is the YAML text of the stack. It provides the comments, and the order of keys in maps. It may be empty.
	Text []byte
	// Absorbed contains the replacement for overrideConfig, or the reasons why there is none. Nil means that no
	// replacement was requested.
	Absorbed *Absorbed
	// Dropped contains a sentence for each field of the manifest that no version has. Object does not contain these
	// fields.
	Dropped []string
}

// Result is a manifest.
type Result struct {
	// YAML is one document, without a separator.
	YAML []byte
	// Warnings contains sentences about values of the source that the manifest omits or keeps only in an annotation.
	Warnings []string
}

// Convert converts a stack to another apiVersion. The parameter `to` is one of convert.Versions. A stack that already
// has that version is not converted.
func Convert(source Source, to string) (Result, error) {
	clean(source.Object)
	from := source.Object
	object, notes := from, remarks{}
	switch {
	case from["apiVersion"] == to:
	case to == v1alpha2.GroupVersion.String():
		// These defaults of the v1alpha1 schema affect the conversion. The default number of replicas has the same effect if
		// it is added after the conversion.
		if network, ok := child(from, "spec", "network"); ok {
			setMissing(network, "exposeRoute", false)
		}
		if container, ok := child(from, "spec", "server", "containerSpec"); ok {
			setMissing(container, "name", v1alpha1.DefaultContainerName)
		}
		object = convert.ToHub(from)
		notes.ofOlder(from)
	default:
		object = convert.FromHub(from)
	}
	if source.Absorbed != nil {
		source.Absorbed.into(object, &notes)
	}
	notes.ofObject(object)
	notes.ofDropped(source.Dropped)
	if from["apiVersion"] != to {
		notes.header = header(from["apiVersion"])
	}
	w := writer{written: readText(source.Text, to), remarks: notes}
	page, err := w.page(object, typeOf(to))
	return Result{YAML: page, Warnings: notes.warnings}, err
}

// Ordered returns JSON values as a YAML document with sorted keys.
func Ordered(object map[string]any) ([]byte, error) {
	w := writer{}
	return w.page(object, nil)
}

func typeOf(apiVersion string) reflect.Type {
	if apiVersion == v1alpha1.GroupVersion.String() {
		return reflect.TypeFor[v1alpha1.LlamaStackDistribution]()
	}
	return reflect.TypeFor[v1alpha2.LlamaStackDistribution]()
}

// indent is the indentation that kubectl uses.
const indent = 2

// page returns an object as a YAML document.
func (w *writer) page(object map[string]any, typ reflect.Type) ([]byte, error) {
	content := w.value(object, typ, nil)
	document := &yaml.Node{Kind: yaml.DocumentNode, Content: []*yaml.Node{content}}
	w.finish(document, content)
	var page bytes.Buffer
	encoder := yaml.NewEncoder(&page)
	encoder.SetIndent(indent)
	encoder.CompactSeqIndent()
	if err := encoder.Encode(document); err != nil {
		return nil, fmt.Errorf("write the manifest: %w", err)
	}
	return page.Bytes(), nil
}
