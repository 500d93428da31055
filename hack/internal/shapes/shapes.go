package shapes

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// These are the Go types of the fields with more than one shape.
const (
	Providers   = "Providers"
	ModelEntry  = "ModelEntry"
	ToolEntry   = "ToolEntry"
	ShieldEntry = "ShieldEntry"
	Expose      = "Expose"
)

// objects maps each type to the struct of its object shape.
var objects = map[string]string{
	Providers: "Provider", ModelEntry: "Model", ToolEntry: "Tool", ShieldEntry: "Shield", Expose: "ExposeSpec",
}

// Names returns the names of the types, sorted.
func Names() []string { return []string{Expose, ModelEntry, Providers, ShieldEntry, ToolEntry} }

// Kind is the kind of a value.
type Kind string

// These are the kinds of the values that an object's keys can have.
const (
	Text      Kind = "string"
	Boolean   Kind = "boolean"
	Integer   Kind = "integer"
	Object    Kind = "object"
	Texts     Kind = "map of strings"
	Secret    Kind = "secret reference"
	SecretMap Kind = "map of secret references"
)

// Field is one key of an object shape.
type Field struct {
	Name     string
	Kind     Kind
	Doc      string
	Required bool
}

// Read returns the keys of each type's object shape, in the order of their declaration. The map is indexed by type
// name. The parameter dir is the directory of the package v1alpha2.
func Read(dir string) (map[string][]Field, error) {
	structs, err := structsOf(dir)
	if err != nil {
		return nil, err
	}
	all := make(map[string][]Field, len(objects))
	for name, object := range objects {
		node, ok := structs[object]
		if !ok {
			return nil, fmt.Errorf("%s has no struct %s", dir, object)
		}
		for _, field := range node.Fields.List {
			read, err := readField(field)
			if err != nil {
				return nil, fmt.Errorf("struct %s: %w", object, err)
			}
			if read.Name != "-" {
				all[name] = append(all[name], read)
			}
		}
	}
	return all, nil
}

func structsOf(dir string) (map[string]*ast.StructType, error) {
	files, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", dir, err)
	}
	structs := map[string]*ast.StructType{}
	for _, name := range files {
		source, err := os.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read types: %w", err)
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, source, parser.ParseComments)
		if err != nil {
			return nil, fmt.Errorf("parse types: %w", err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if spec, ok := node.(*ast.TypeSpec); ok {
				if found, ok := spec.Type.(*ast.StructType); ok {
					structs[spec.Name.Name] = found
				}
			}
			return true
		})
	}
	return structs, nil
}

func readField(field *ast.Field) (Field, error) {
	tag, err := strconv.Unquote(field.Tag.Value)
	if err != nil {
		return Field{}, fmt.Errorf("tag %s: %w", field.Tag.Value, err)
	}
	name, _, _ := strings.Cut(reflect.StructTag(tag).Get("json"), ",")
	if name == "-" {
		return Field{Name: name}, nil
	}
	kind, err := kindOf(field.Type)
	if err != nil {
		return Field{}, fmt.Errorf("field %s: %w", name, err)
	}
	doc, markers := docOf(field)
	doc = requirements.ReplaceAllString(doc, "")
	return Field{Name: name, Kind: kind, Doc: doc, Required: slices.Contains(markers, "+required")}, nil
}

// requirements matches references to requirements, such as (FR-1). Descriptions for users omit these references.
var requirements = regexp.MustCompile(` ?\(FR-[^)]*\)`)

// docOf returns the text and the markers of a field's comment.
func docOf(field *ast.Field) (doc string, markers []string) {
	var lines []string
	for line := range strings.Lines(field.Doc.Text()) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "+") {
			markers = append(markers, line)
		} else if line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, " "), markers
}

func kindOf(expr ast.Expr) (Kind, error) {
	switch typ := expr.(type) {
	case *ast.StarExpr:
		return kindOf(typ.X)
	case *ast.Ident:
		switch typ.Name {
		case "string":
			return Text, nil
		case "bool":
			return Boolean, nil
		case "int64":
			return Integer, nil
		case "SecretReference":
			return Secret, nil
		}
	case *ast.SelectorExpr:
		if typ.Sel.Name == "JSON" {
			return Object, nil
		}
	case *ast.MapType:
		switch value, err := kindOf(typ.Value); {
		case err != nil:
			return "", err
		case value == Text:
			return Texts, nil
		case value == Secret:
			return SecretMap, nil
		}
	}
	return "", fmt.Errorf("%T is not a supported field type", expr)
}

// Form is one shape of a field.
type Form struct {
	// Type is the JSON type. Example is an example of a value. Meaning describes the value in a sentence.
	Type, Example, Meaning string
}

var forms = map[string][]Form{
	Providers: {
		{"object", "{provider: vllm, endpoint: http://vllm:8000}", "One provider."},
		{
			"array of objects", "[{id: a, provider: vllm}, {id: b, provider: openai}]",
			"A list of up to 64 providers. If there is more than one, each needs an ID.",
		},
	},
	ModelEntry: {
		{"string", "llama3.2-8b", "The name of the model. The first inference provider serves it."},
		{"object", "{name: llama3.2-70b, provider: vllm, contextLength: 128000}", "A model with a name and other fields."},
	},
	ToolEntry: {
		{"string", "websearch", "The name of the tool group."},
		{"object", "{name: tickets, mcpEndpoint: http://tickets-mcp:8080/mcp}", "A tool group with a name and other fields."},
	},
	ShieldEntry: {
		{"string", "llama-guard", "The name of the shield. The first safety provider runs it."},
		{"object", "{name: guard, provider: llama-guard, model: llama-guard3-8b}", "A shield with a name and other fields."},
	},
	Expose: {
		{"boolean", "true", "true exposes the server with the default host name. false does not expose it."},
		{"object", "{hostname: llama.example.com}", "The server is exposed unless enabled is false. {} means true."},
	},
}

// Forms returns the shapes of a type.
func Forms(name string) []Form { return forms[name] }
