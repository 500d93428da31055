package cli

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

// document is one object of a file.
type document struct {
	file string
	// listed reports that a folder has the file, and nobody named it.
	listed bool
	// source is the text of the document, and data the same as JSON; it is nil where the text cannot be read.
	source, data []byte
	meta         metav1.TypeMeta
	// problem says why the text cannot be read, or what is written twice in it. It is empty for nearly all documents.
	problem string
}

// splitDocuments gives the objects of a file: YAML documents, JSON values one after another, and the items of lists.
func splitDocuments(file string, data []byte, listed bool) ([]document, error) {
	if values, ok := jsonValues(data); ok {
		var documents []document
		for _, value := range values {
			documents = append(documents, itemsOf(document{file: file, listed: listed, source: value})...)
		}
		return documents, nil
	}
	reader := utilyaml.NewYAMLReader(bufio.NewReader(bytes.NewReader(data)))
	var documents []document
	for {
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
		documents = append(documents, itemsOf(document{file: file, listed: listed, source: data})...)
	}
}

// jsonValues are the values of a file in JSON. JSON is no part of YAML to a YAML reader: it does not know how JSON
// escapes what lies beyond 16 bits.
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

// itemsOf reads a document, and takes a list apart as kubectl does: kubectl get prints one.
func itemsOf(doc document) []document {
	doc.read()
	kind, isList := strings.CutSuffix(doc.meta.Kind, "List")
	if !isList || doc.data == nil {
		return []document{doc}
	}
	var list struct {
		Items []json.RawMessage `json:"items"`
	}
	if err := json.Unmarshal(doc.data, &list); err != nil {
		return []document{doc}
	}
	var documents []document
	for _, item := range list.Items {
		inner := document{file: doc.file, listed: doc.listed, source: item, problem: doc.problem}
		inner.read()
		if inner.meta.Kind == "" && kind != "" { // the items of a list of one kind need not repeat it
			inner.meta = metav1.TypeMeta{APIVersion: doc.meta.APIVersion, Kind: kind}
		}
		documents = append(documents, itemsOf(inner)...)
	}
	return documents
}

// read fills data and meta, or says why it cannot.
func (d *document) read() {
	if d.data != nil {
		return
	}
	data := d.source
	if !json.Valid(data) {
		var err error
		if data, err = yaml.YAMLToJSONStrict(d.source); err != nil {
			d.problem = d.explain(err)
			if data, err = yaml.YAMLToJSON(d.source); err != nil {
				return
			}
		}
	}
	var meta metav1.TypeMeta
	if err := json.Unmarshal(data, &meta); err != nil {
		d.problem = "is no Kubernetes object: it begins with neither apiVersion nor kind"
		return
	}
	d.data, d.meta = data, meta
}

// explain is what a YAML reader says, without the steps that it took. It shows names, and no values.
func (d *document) explain(err error) string {
	text := err.Error()
	for _, prefix := range []string{"error converting YAML to JSON: ", "yaml: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	text = strings.ReplaceAll(strings.TrimPrefix(text, "unmarshal errors:\n  "), "\n  ", "; ")
	for i, line := range bytes.Split(d.source, []byte("\n")) {
		if indent := line[:len(line)-len(bytes.TrimLeft(line, " \t"))]; bytes.ContainsRune(indent, '\t') {
			return fmt.Sprintf("is no YAML: line %d is indented with a tab; use spaces (%s)", i+1, text)
		}
	}
	if strings.Contains(text, "already set in map") {
		return text + "; keep one of them"
	}
	return "is no YAML: " + text
}
