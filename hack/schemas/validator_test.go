package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"go.yaml.in/yaml/v3"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
	sigsyaml "sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// stack is the apiVersion of stacks in v1alpha2.
var stack = v1alpha2.GroupVersion.String()

// folder contains the schemas.
var folder string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		var err error
		if folder, err = os.MkdirTemp("", "schemas"); err == nil {
			defer os.RemoveAll(folder)
			err = write(testutil.Root(), folder)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return m.Run()
	}())
}

// compile reads the schema of a version, such as v1alpha2, or of a release line, such as v1alpha2-0.7.
func compile(t *testing.T, name string) *jsonschema.Schema {
	t.Helper()
	schema, err := jsonschema.NewCompiler().Compile(filepath.Join(folder, prefix+name+suffix))
	testutil.Must(t, err)
	return schema
}

// problem is an error that a schema reports.
type problem struct{ path, text string }

// problems returns the errors that a schema reports for a value, each with its path.
func problems(t *testing.T, schema *jsonschema.Schema, value any) []problem {
	t.Helper()
	data, err := json.Marshal(value)
	testutil.Must(t, err)
	decoded, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	testutil.Must(t, err)
	invalid, ok := errors.AsType[*jsonschema.ValidationError](schema.Validate(decoded))
	if !ok {
		return nil
	}
	var found []problem
	collect(invalid, &found)
	slices.SortFunc(found, func(a, b problem) int { return strings.Compare(a.path+a.text, b.path+b.text) })
	return slices.Compact(found)
}

func collect(invalid *jsonschema.ValidationError, found *[]problem) {
	if _, key := invalid.ErrorKind.(*kind.PropertyNames); len(invalid.Causes) > 0 && !key {
		for _, cause := range invalid.Causes {
			collect(cause, found)
		}
		return
	}
	var path strings.Builder
	for _, step := range invalid.InstanceLocation {
		if strings.Trim(step, "0123456789") == "" {
			path.WriteString("[" + step + "]")
		} else {
			path.WriteString("." + step)
		}
	}
	names := []string{""}
	switch found := invalid.ErrorKind.(type) {
	case *kind.AdditionalProperties:
		names = found.Properties
	case *kind.Required:
		names = found.Missing
	case *kind.PropertyNames:
		path.Reset() // for this kind of error, the library overwrites the location
		names = []string{found.Property}
	}
	text := invalid.ErrorKind.LocalizedString(message.NewPrinter(language.English))
	for _, name := range names {
		at := path.String()
		if name != "" {
			at += "." + name
		}
		*found = append(*found, problem{strings.TrimPrefix(at, "."), text})
	}
}

// manifest is a stack in a file.
type manifest struct {
	name   string
	object map[string]any
}

// manifestsIn returns the stacks of a version in a file.
func manifestsIn(t *testing.T, file, apiVersion string) []manifest {
	t.Helper()
	data, err := os.ReadFile(file)
	testutil.Must(t, err)
	var found []manifest
	decoder := yaml.NewDecoder(bytes.NewReader(data))
	for i := 0; ; i++ {
		var node yaml.Node
		err := decoder.Decode(&node)
		if errors.Is(err, io.EOF) {
			return found
		}
		if err != nil {
			return found // the rest of the file is not YAML, as in a template
		}
		text, err := yaml.Marshal(&node)
		testutil.Must(t, err)
		var object map[string]any
		if sigsyaml.Unmarshal(text, &object) == nil && object["apiVersion"] == apiVersion && object["kind"] == v1alpha2.Kind {
			relative, _ := filepath.Rel(testutil.Root(), file)
			found = append(found, manifest{fmt.Sprintf("%s#%d", relative, i), object})
		}
	}
}
