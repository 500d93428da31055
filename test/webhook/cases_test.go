package webhook

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/findings"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

// cases are folders with manifests of typical mistakes, of stacks whose objects an API server rejects, of stacks that a
// real server did not start with, and of published reports.
var cases = filepath.Join(testutil.Root(), "../shared/cases")

// needsCases skips a test in a checkout without the shared cases.
func needsCases(t *testing.T) {
	t.Helper()
	if _, err := os.Stat(cases); errors.Is(err, fs.ErrNotExist) {
		t.Skip("there is no " + cases)
	}
}

// cases writes a table with the answers to each manifest: that of the command line, with its grade, that of the API
// server, and that of the status of a stack that the API server accepts. The command line accepts no stack that the API
// server rejects.
func (c *checker) cases(t *testing.T) {
	needsCases(t)
	var table bytes.Buffer
	table.WriteString("case | validate | API server | status | grade\n")
	grades := readGrades(t)
	for _, folder := range []string{"boots", "children", "mistakes", "reports"} {
		files, err := filepath.Glob(filepath.Join(cases, folder, "*.yaml"))
		if err != nil || len(files) == 0 {
			t.Fatalf("there are no cases in %s: %v", folder, err)
		}
		for _, file := range files {
			c.answerTo(t, file, grades, &table)
		}
	}
	golden.Dir(t, "testdata/cases/want", map[string][]byte{"answers.txt": table.Bytes()})
}

// answerTo adds a row for a file to the table.
func (c *checker) answerTo(t *testing.T, file string, grades map[string]grade, table *bytes.Buffer) {
	t.Helper()
	found, documents := gather(t, file)
	name := filepath.Base(filepath.Dir(file)) + "/" + strings.TrimSuffix(filepath.Base(file), ".yaml")
	own := validated(found)
	server := "accepts"
	for i := range documents {
		if kind := documents[i].Meta.Kind; kind == "ConfigMap" || kind == "Secret" || documents[i].Data == nil {
			continue
		}
		if said := c.post(t, documents[i].Meta.APIVersion, inDefault(documents[i].Data)); said != "" {
			server = "rejects"
			if own != findings.Error {
				t.Errorf("%s: the command line accepts the stack, and the API server: %s", name, said)
			}
		}
	}
	status := ""
	if server == "accepts" {
		status = stated(found)
	}
	fmt.Fprintf(table, "%s | %s | %s | %s | %s\n", name, own, server, status, grades[strings.TrimPrefix(name, "mistakes/")].grade)
}

// inDefault returns an object without its namespace, unless the namespace has an invalid name.
func inDefault(data []byte) []byte {
	var object map[string]any
	if json.Unmarshal(data, &object) != nil {
		return data
	}
	namespace, _, _ := unstructured.NestedString(object, "metadata", "namespace")
	if len(validation.IsDNS1123Label(namespace)) > 0 {
		return data
	}
	unstructured.RemoveNestedField(object, "metadata", "namespace")
	without, err := json.Marshal(object)
	if err != nil {
		return data
	}
	return without
}

// answers returns the findings about all stacks.
func answers(found *dryrun.Manifests) (list []findings.Finding) {
	for i := range found.Stacks {
		outcome := found.Plan(found.Stacks[i])
		reported, _ := dryrun.Reported(&found.Stacks[i], &outcome, false)
		list = append(list, reported...)
	}
	return list
}

// validated returns the highest level of the findings of all stacks, or "ok".
func validated(found *dryrun.Manifests) string {
	list := answers(found)
	for _, level := range []string{findings.Error, findings.Warning} {
		if slices.ContainsFunc(list, func(f findings.Finding) bool { return f.Level == level }) {
			return level
		}
	}
	if len(found.Stacks) == 0 {
		return findings.Error
	}
	return "ok"
}
