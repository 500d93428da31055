package document

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	utilyaml "k8s.io/apimachinery/pkg/util/yaml"
	"sigs.k8s.io/yaml"
)

// Document is one object of a file.
type Document struct {
	// File is the path of the file, or "-" for standard input.
	File string
	// Place is the position in the file in readable form: "document 2", "document 1, items[0]".
	Place string
	// Listed reports that the file was found in a folder and not named by the user.
	Listed bool
	// Source is the text of the document. Data is the text as JSON; it is nil if the text cannot be read.
	Source, Data []byte
	Meta         metav1.TypeMeta
	// Problem describes why the text cannot be read, or its duplicate keys. It is usually empty.
	Problem string
}

// splitDocuments returns the objects of a file: YAML documents, JSON values one after another, and the items of lists.
func splitDocuments(file string, data []byte, listed bool) ([]Document, error) {
	if values, ok := jsonValues(data); ok {
		var documents []Document
		for i, value := range values {
			documents = append(documents, itemsOf(Document{File: file, Place: placeOf(i), Listed: listed, Source: value})...)
		}
		return documents, nil
	}
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	var documents []Document
	for i := 0; ; i++ {
		data, err := reader.Read()
		if errors.Is(err, io.EOF) {
			return documents, nil
		}
		if err != nil {
			return nil, fmt.Errorf("split %s into documents: %w", file, err)
		}
		if err := checkAliases(data); err != nil {
			return nil, fmt.Errorf("read %s: %w", file, err)
		}
		documents = append(documents, itemsOf(Document{File: file, Place: placeOf(i), Listed: listed, Source: data})...)
	}
}

// placeOf returns the position of the document after i others.
func placeOf(i int) string { return fmt.Sprintf("document %d", i+1) }

// jsonValues returns the values of a JSON file. A YAML reader cannot read all JSON: it does not understand how JSON
// escapes characters beyond 16 bits.
func jsonValues(data []byte) ([][]byte, bool) {
	if trimmed := bytes.TrimSpace(data); len(trimmed) == 0 || trimmed[0] != '{' {
		return nil, false
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	var values [][]byte
	for {
		var value json.RawMessage
		switch err := decoder.Decode(&value); {
		case errors.Is(err, io.EOF):
			return values, true
		case err != nil:
			return nil, false
		}
		values = append(values, value)
	}
}

// itemsOf reads a document, and splits a list into its items as kubectl does, because kubectl get prints lists.
func itemsOf(doc Document) []Document {
	doc.read()
	kind, isList := strings.CutSuffix(doc.Meta.Kind, "List")
	if !isList || doc.Data == nil {
		return []Document{doc}
	}
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(doc.Data, &list); err != nil {
		return []Document{doc}
	}
	var documents []Document
	for i, item := range list.Items {
		inner := Document{
			File: doc.File, Place: fmt.Sprintf("%s, items[%d]", doc.Place, i), Listed: doc.Listed, Source: item,
			Problem: doc.Problem,
		}
		inner.read()
		if inner.Meta.Kind == "" && kind != "" { // the items of a typed list need not repeat the kind
			inner.Meta = metav1.TypeMeta{APIVersion: doc.Meta.APIVersion, Kind: kind}
		}
		documents = append(documents, itemsOf(inner)...)
	}
	return documents
}

// read sets Data and Meta, or Problem.
func (d *Document) read() {
	if d.Data != nil {
		return
	}
	data := d.Source
	if !json.Valid(data) {
		var err error
		if data, err = yaml.YAMLToJSONStrict(d.Source); err != nil {
			d.Problem = d.explain(err)
			if data, err = yaml.YAMLToJSON(d.Source); err != nil {
				return
			}
		}
	}
	var meta metav1.TypeMeta
	if err := json.Unmarshal(data, &meta); err != nil {
		d.Problem = "is not a Kubernetes object: it does not have apiVersion and kind"
		return
	}
	d.Data, d.Meta = data, meta
}

// explain returns the message of a YAML reader without its intermediate steps. The message contains names and no
// values.
func (d *Document) explain(err error) string {
	text := err.Error()
	for _, prefix := range []string{"error converting YAML to JSON: ", "yaml: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	text = strings.ReplaceAll(strings.TrimPrefix(text, "unmarshal errors:\n  "), "\n  ", "; ")
	for i, line := range bytes.Split(d.Source, []byte("\n")) {
		if indent := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]; bytes.ContainsRune(indent, '\t') {
			return fmt.Sprintf("is not valid YAML: line %d is indented with a tab; use spaces (%s)", i+1, text)
		}
	}
	if strings.Contains(text, "already set in map") {
		return text + "; keep one of them"
	}
	return "is not valid YAML: " + text
}

// Title returns the file of a document and its position.
func (d *Document) Title() string {
	if d.Place == "" {
		return d.File
	}
	return d.File + ": " + d.Place
}
