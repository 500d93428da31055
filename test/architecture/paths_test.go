package architecture

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
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
var repositoryPath = regexp.MustCompile(`(?m)(?:^|[\s=(,"'])(?:\./)?((?:api|charts|cmd|config|hack|internal|test|tools)/[\w./-]+)`)

func TestMakefileNamesPathsThatExist(t *testing.T) {
	paths := repositoryPath.FindAllStringSubmatch(read(t, "Makefile"), -1)
	if len(paths) < 30 {
		t.Fatalf("only %d paths found in the Makefile", len(paths))
	}
	for _, path := range paths {
		if path := strings.TrimRight(path[1], "./"); !exists(t, path) {
			t.Errorf("the Makefile refers to %s, which does not exist", path)
		}
	}
}

var (
	linterGlob    = regexp.MustCompile(`"\*\*/([^*"]+)/\*\*"`)
	linterPackage = regexp.MustCompile(`(?m)(?:pkg: |- )` + regexp.QuoteMeta(module) + `/([^,\s]+)`)
	linterExcept  = regexp.MustCompile(`(?m)path-except: (\^\(api\|internal/\(([^)]*)\)\)/)$`)
)

func TestLinterNamesPathsThatExist(t *testing.T) {
	linter := read(t, ".golangci.yaml")
	var paths []string
	for _, expression := range []*regexp.Regexp{linterGlob, linterPackage} {
		found := expression.FindAllStringSubmatch(linter, -1)
		if len(found) < 5 {
			t.Fatalf("only %d matches of %s in .golangci.yaml", len(found), expression)
		}
		for _, match := range found {
			paths = append(paths, match[1])
		}
	}
	for name := range strings.SplitSeq(pathExcept(t, linter)[2], "|") {
		paths = append(paths, "internal/"+name)
	}
	for _, path := range paths {
		if !exists(t, path) {
			t.Errorf(".golangci.yaml refers to %s, which does not exist", path)
		}
	}
}

// The Makefile measures the coverage of the pure packages, and the linter rejects I/O in them. The Makefile and the
// linter's configuration repeat the names of these packages, which must be the same as in Rules.
func TestListsOfPurePackagesAgree(t *testing.T) {
	makefile := variable(t, read(t, "Makefile"), "PURE_PACKAGES")
	linter := read(t, ".golangci.yaml")
	except := regexp.MustCompile(pathExcept(t, linter)[1])
	var rows, trees []string
	for _, rule := range Rules {
		path := strings.TrimSuffix(rule.Path, "/...")
		if rule.Kind != IO {
			rows = append(rows, path)
		}
		if except.MatchString(path+"/") != (rule.Kind != IO) {
			t.Errorf(".golangci.yaml: the exclusion of forbidigo for %s differs from rules.go", path)
		}
		if rule.Kind == IO && ofProduct(path) && !strings.Contains(linter, "pkg: "+module+"/"+path+",") {
			t.Errorf(".golangci.yaml: depguard allows pure packages to import %s", path)
		}
	}
	for _, folder := range makefile {
		trees = append(trees, folder+"/...")
		if !slices.Contains(rows, folder) {
			t.Errorf("PURE_PACKAGES in the Makefile contains %s, which is not a pure row of the table", folder)
		}
		if glob := `"**/` + folder + `/**"`; !strings.Contains(linter, glob) {
			t.Errorf(".golangci.yaml: depguard does not contain %s", glob)
		}
	}
	for _, row := range rows {
		if !matchesAny(trees, row) {
			t.Errorf("PURE_PACKAGES in the Makefile does not contain %s", row)
		}
	}
}

// documentRow matches a row of a table whose first cell is one path. A path that ends in `/` or `/…` means a whole
// directory tree.
var documentRow = regexp.MustCompile("(?m)^\\| `((?:api|charts|cmd|config|hack|internal|test|tools)/[^`]*)` \\|")

func TestDocumentNamesEveryPackage(t *testing.T) {
	var patterns []string
	for _, row := range documentRow.FindAllStringSubmatch(read(t, "docs/development/architecture.md"), -1) {
		path := strings.TrimSuffix(strings.TrimSuffix(row[1], "…"), "/")
		if !exists(t, path) {
			t.Errorf("docs/development/architecture.md has a row for %s, which does not exist", path)
		}
		if path != row[1] {
			path += "/..."
		}
		patterns = append(patterns, path)
	}
	for _, pkg := range list(t) {
		if path, _ := below(module, pkg.ImportPath); !matchesAny(patterns, path) {
			t.Errorf("docs/development/architecture.md has no row for %s", path)
		}
	}
}

// ofProduct reports whether a package is below internal/ and is part of the product.
func ofProduct(path string) bool {
	return strings.HasPrefix(path, "internal/") && !slices.Contains(testTrees, path)
}

func pathExcept(t *testing.T, linter string) []string {
	t.Helper()
	match := linterExcept.FindStringSubmatch(linter)
	if match == nil {
		t.Fatal(".golangci.yaml has no path-except that lists the pure packages")
	}
	return match
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

// variable returns the words of a make variable. The value may continue after a line that ends in a backslash.
func variable(t *testing.T, makefile, name string) []string {
	t.Helper()
	_, rest, found := strings.Cut(makefile, "\n"+name+" := ")
	if !found {
		t.Fatalf("the Makefile has no variable %s", name)
	}
	value, _, _ := strings.Cut(strings.ReplaceAll(rest, "\\\n", " "), "\n")
	return strings.Fields(value)
}
