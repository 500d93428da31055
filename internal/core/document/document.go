package document

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// StandardInput replaces the path of a file in messages if a command reads standard input.
const StandardInput = "standard input"

// Names returns the names of files for messages: the paths, and StandardInput for "-".
func Names(paths []string) string {
	names := slices.Clone(paths)
	for i, path := range names {
		if path == "-" {
			names[i] = StandardInput
		}
	}
	return strings.Join(names, ", ")
}

// Document is one object in a file.
type Document struct {
	// File is the path of the file, or StandardInput.
	File string
	// Place is the position in the file for messages, for example "document 2" or "document 1, items[0]".
	Place string
	// Listed reports whether the user named a folder that contains the file, instead of the file itself.
	Listed bool
	// Origin is the source of generated text: "standard input", "kustomize DIR" or "Helm template PATH". Empty means that
	// a user wrote the file.
	Origin string
	// Line is the line in the file on which the document begins. The first line is 1.
	Line int
	// Source is the text of the document. Data is the document as JSON, or nil if the text cannot be read.
	Source, Data []byte
	Meta         metav1.TypeMeta
	// Problem is the reason why the text cannot be read, or a sentence about duplicate keys. Empty means no problem.
	Problem string
	// whole is the text that contains the document. within contains the indexes that lead to the document in nested lists.
	within []int
	whole  *text
}

// maxDocuments is the maximum number of documents in a file.
const maxDocuments = 20_000

// splitDocuments returns the objects in a file: YAML documents, JSON values one after another, and the items of lists.
func splitDocuments(file string, data []byte, listed bool) []Document {
	texts, isJSON := jsonValues(data)
	if !isJSON {
		texts = yamlTexts(data)
	}
	if len(texts) > maxDocuments {
		problem := fmt.Sprintf("has more than %d documents; write its objects to several files", maxDocuments)
		return []Document{{File: file, Listed: listed, Line: 1, Origin: originOf(file, nil), Problem: problem}}
	}
	var documents []Document
	for i, text := range texts {
		doc := Document{
			File: file, Place: placeOf(i), Listed: listed, Line: text.line, Source: text.data,
			Problem: text.problem, whole: text,
		}
		doc.Origin = originOf(file, text.data)
		if doc.Problem == "" {
			text.problem = checkValues(text.data, isJSON)
			doc.Problem = text.problem
		}
		if doc.Problem == "" && !isJSON {
			doc.Problem = checkAliases(text.data)
		}
		if doc.Problem != "" {
			documents = append(documents, doc)
			continue
		}
		documents = append(documents, itemsOf(doc)...)
	}
	return documents
}

// yamlTexts returns the documents in a YAML file as kubectl separates them. A separator is a line that begins with ---.
// Only a comment may follow on that line; other text is a problem with the document that begins there. A separator at
// the beginning of the file does not end a document.
func yamlTexts(data []byte) []*text {
	var texts []*text
	current := pending{line: 1}
	end := func(next int) {
		if !current.isEmpty() {
			texts = append(texts, current.text())
		}
		current = pending{line: next}
	}
	number := 0
	for line := range bytes.Lines(data) {
		number++
		line = bytes.TrimRight(line, "\r\n")
		isSeparator, hasText := separator(line)
		switch {
		case hasText:
			end(number)
			current.problem = fmt.Sprintf(textAfterSeparator, number)
		case isSeparator && !current.isEmpty():
			end(number + 1)
			continue
		}
		current.data = append(append(current.data, line...), '\n')
	}
	end(0)
	return texts
}

const textAfterSeparator = "is not YAML: line %d: only a comment can follow --- at the beginning of a document; " +
	"write the text on the next line"

// separator reports whether a line separates documents, and whether text other than a comment follows on the line.
func separator(line []byte) (is, hasText bool) {
	after, is := bytes.CutPrefix(line, []byte("---"))
	after = bytes.TrimSpace(after)
	return is, is && len(after) > 0 && after[0] != '#'
}

// pending is a document whose end has not been found.
type pending struct {
	data    []byte
	line    int
	problem string
}

// isEmpty reports whether the text has neither content nor a problem.
func (t *pending) isEmpty() bool { return len(t.data) == 0 && t.problem == "" }

func (t *pending) text() *text {
	complete := newText(t.data, t.line)
	complete.problem = t.problem
	return complete
}

// helmSource matches the comment that Helm writes above each document.
var helmSource = regexp.MustCompile(`(?m)\A(?:---.*\n)?# Source: (\S+)`)

// originOf returns the source of a generated document, or "".
func originOf(file string, data []byte) string {
	if match := helmSource.FindSubmatch(data); match != nil {
		return "Helm template " + string(match[1])
	}
	if file == StandardInput {
		return StandardInput
	}
	return ""
}

// placeOf returns the Place of the document with the index i.
func placeOf(i int) string { return fmt.Sprintf("document %d", i+1) }

// jsonValues returns the values in a JSON file, and false for a file that is not JSON. A YAML decoder cannot read all
// JSON, because it does not decode the surrogate pairs with which JSON escapes characters above U+FFFF.
func jsonValues(data []byte) ([]*text, bool) {
	if trimmed := bytes.TrimSpace(data); len(trimmed) == 0 || trimmed[0] != '{' {
		return nil, false
	}
	decoder := json.NewDecoder(bytes.NewReader(data))
	var values []*text
	line, counted := 1, 0
	for {
		var value json.RawMessage
		switch err := decoder.Decode(&value); {
		case errors.Is(err, io.EOF):
			return values, true
		case err != nil:
			return nil, false
		}
		begin := int(decoder.InputOffset()) - len(value)
		line += bytes.Count(data[counted:begin], []byte("\n"))
		counted = begin
		values = append(values, newText(value, line))
	}
}

// itemsOf reads a document. It splits a list into its items as kubectl does, because kubectl get prints lists.
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
		inner := doc
		inner.Place, inner.Source, inner.Data, inner.Meta = fmt.Sprintf("%s, items[%d]", doc.Place, i), item, nil,
			metav1.TypeMeta{}
		inner.within = append(slices.Clone(doc.within), i)
		inner.read()
		if inner.Meta.Kind == "" && kind != "" { // the items of a typed list need not repeat the kind
			inner.Meta = metav1.TypeMeta{APIVersion: doc.Meta.APIVersion, Kind: kind}
		}
		documents = append(documents, itemsOf(inner)...)
	}
	return documents
}

// read decodes the source. It sets Data and Meta, or Problem. For duplicate keys, it sets all three.
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
		d.Problem = "is not a Kubernetes object: a manifest must be an object in which apiVersion and kind are strings"
		return
	}
	d.Data, d.Meta = data, meta
}

// explain returns the message to show for an error from the YAML decoder. The message contains names of keys but no
// values.
func (d *Document) explain(err error) string {
	text := err.Error()
	for _, prefix := range []string{"error converting YAML to JSON: ", "yaml: "} {
		text = strings.TrimPrefix(text, prefix)
	}
	problems := strings.Split(strings.TrimPrefix(text, "unmarshal errors:\n  "), "\n  ")
	if more := len(problems) - maxProblems; more > 0 {
		problems = append(problems[:maxProblems:maxProblems], fmt.Sprintf("and %d more", more))
	}
	// The lines in the document become lines in the file. For an incomplete value, the decoder reports the line after the
	// last line.
	text = lineNumber.ReplaceAllStringFunc(strings.Join(problems, "; "), func(match string) string {
		line, err := strconv.Atoi(strings.TrimPrefix(match, "line "))
		if err != nil {
			return match
		}
		last := bytes.Count(bytes.TrimRight(d.Source, "\n"), []byte("\n")) + 1
		return "line " + strconv.Itoa(d.Line+min(line, last)-1)
	})
	if line := yamlnode.TabLine(d.Source, err); line > 0 {
		return fmt.Sprintf("is not valid YAML: line %d is indented with a tab; use spaces (%s)", d.Line+line-1, text)
	}
	switch {
	case strings.Contains(text, `key "apiVersion" already set in map`) && strings.Contains(text, `key "kind" already`):
		text += "; put a line with --- between two objects"
	case strings.Contains(text, "already set in map"):
		text += "; remove one of the two keys"
	}
	return "is not valid YAML: " + text
}

// maxProblems is the maximum number of problems from the YAML decoder in a message.
const maxProblems = 20

var lineNumber = regexp.MustCompile(`\bline (\d+)`)

// Title returns the file of a document and the position of the document in the file.
func (d *Document) Title() string {
	if d.Place == "" {
		return d.File
	}
	return d.File + ": " + d.Place
}

// MaxBytes is the maximum size of one input. etcd rejects even much smaller objects, so a larger file is a mistake, for
// example a model or an archive.
const MaxBytes = 8 << 20

// Parse returns the documents in a text. `file` is the path of the text, or StandardInput. `listed` reports whether the
// user named a folder that contains the file. For a text that is not a document, Parse returns a Document with the
// problem.
func Parse(file string, data []byte, listed bool) []Document {
	if len(data) > MaxBytes {
		problem := fmt.Sprintf("is larger than %d MiB, the limit for a manifest; write its objects to several files", MaxBytes>>20)
		return []Document{{File: file, Listed: listed, Line: 1, Origin: originOf(file, nil), Problem: problem}}
	}
	return splitDocuments(file, data, listed)
}

// Generated returns the documents in a text that another program generated. `origin` names the program and its input,
// and replaces the path of a file.
func Generated(origin string, data []byte) []Document {
	documents := splitDocuments(origin, data, false)
	for i := range documents {
		documents[i].Origin = origin
	}
	return documents
}
