package architecture

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Every path in the table must exist. Add the row for a new package together with its first file.
func TestRulesNamePackagesThatExist(t *testing.T) {
	for _, rule := range Rules {
		if !exists(t, strings.TrimSuffix(rule.Path, "/...")) {
			t.Errorf("rules.go has a row for %s, which does not exist", rule.Path)
		}
		for _, pattern := range rule.Imports {
			if path := strings.TrimSuffix(pattern, "..."); path != "" && !exists(t, path) {
				t.Errorf("%s may import %s, which does not exist", rule.Path, pattern)
			}
		}
	}
}

// repositoryPath matches a path from the root of the repository, with or without `./` in front.
var repositoryPath = regexp.MustCompile(`(?m)(?:^|[\s=(,"'])(?:\./)?((?:api|charts|cmd|config|hack|internal|test)/[\w./-]+)`)

func TestMakefilesNamePathsThatExist(t *testing.T) {
	var text strings.Builder
	for _, name := range []string{"test", "bench", "generate", "release", "site", "tools"} {
		text.WriteString(read(t, "hack/mk/"+name+".mk"))
	}
	paths := repositoryPath.FindAllStringSubmatch(text.String()+read(t, "Makefile"), -1)
	if len(paths) < 30 {
		t.Fatalf("only %d paths found", len(paths))
	}
	for _, path := range paths {
		// `make manifests` and its kind write the files of the chart.
		if path := strings.TrimRight(path[1], "./"); !exists(t, path) && !strings.HasSuffix(path, "/files") {
			t.Errorf("the Makefile or a file in hack/mk refers to %s, which does not exist", path)
		}
	}
}

var linterPath = regexp.MustCompile(`(?:"!?\*\*/|pkg: ` + regexp.QuoteMeta(module) + `/)([\w/-]*\w)`)

func TestLinterNamesPathsThatExist(t *testing.T) {
	paths := linterPath.FindAllStringSubmatch(read(t, ".golangci.yaml"), -1)
	if len(paths) < 8 {
		t.Fatalf("only %d paths found in .golangci.yaml", len(paths))
	}
	for _, path := range paths {
		if !exists(t, path[1]) {
			t.Errorf(".golangci.yaml refers to %s, which does not exist", path[1])
		}
	}
}

func exists(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Stat(filepath.Join("..", "..", path))
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return err == nil
}

func read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}
