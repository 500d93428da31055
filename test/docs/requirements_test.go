package docs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/casetable"
)

const requirements = "test/docs/requirements.txt"

// numbers lists all requirement numbers. US-1.2 is the second scenario of the first user story. EC stands for an edge
// case, FR for a functional requirement, and NFR for a non-functional requirement. QS stands for a step in the v1alpha1
// quickstart, RV for a point in the review of an earlier attempt, and AG for clusters without the internet.
const numbers = `
	US-1.1 US-1.2 US-1.3 US-2.1 US-2.2 US-2.3 US-3.1 US-3.2 US-3.3 US-4.1 US-4.2 US-4.3
	US-5.1 US-5.2 US-5.3 US-6.1 US-6.2 US-6.3 US-7.1 US-7.2 US-7.3
	EC-1 EC-2 EC-3 EC-4 EC-5 EC-6
	FR-001 FR-002 FR-003 FR-004 FR-005 FR-006 FR-007 FR-008 FR-009 FR-010 FR-011 FR-012 FR-013 FR-014
	FR-020 FR-021 FR-022 FR-023 FR-024 FR-025 FR-026 FR-027 FR-028 FR-029
	FR-027a FR-027b FR-027c FR-027d FR-027e FR-027f FR-027g
	FR-030 FR-031 FR-032 FR-033 FR-034 FR-035
	FR-040 FR-041 FR-042 FR-043 FR-044
	FR-050 FR-050a FR-050b FR-051 FR-051a FR-052 FR-053
	FR-060 FR-061 FR-062 FR-063 FR-064 FR-065 FR-066
	FR-070 FR-071 FR-072 FR-073 FR-074 FR-075 FR-076 FR-077 FR-078 FR-079 FR-079d
	FR-080 FR-081 FR-082 FR-083
	FR-090 FR-091 FR-092
	NFR-001 NFR-002 NFR-003 NFR-004 NFR-005 NFR-006
	QS-1 QS-2 QS-3 QS-4 QS-5 QS-6 QS-7 QS-8 QS-9 QS-10 QS-11 QS-12 QS-13 QS-14
	RV-1 RV-2 RV-3 RV-4 RV-5 RV-6 RV-7 RV-8
	AG-1 AG-2 AG-3 AG-4
	FR-024a(001) FR-026(001) FR-028(001) FR-029(001) FR-031(001)`

// entry is a requirement in the list, with the tests that show it.
type entry struct {
	number, asks string
	tests        []string
}

var cited = regexp.MustCompile(`^([^: ]+): ((?:Test|Fuzz|Benchmark)[A-Za-z0-9_]*)(?:/(.+))?$`)

// entries reads the list. A line that begins with a number states a requirement, and the indented lines below it name
// its tests.
func entries(t *testing.T) []entry {
	t.Helper()
	var all []entry
	for line := range strings.Lines(readPage(t, requirements).text) {
		line = strings.TrimRight(line, "\n")
		switch test, indented := strings.CutPrefix(line, "    "); {
		case line == "" || strings.HasPrefix(line, "#"):
		case !indented:
			number, asks, _ := strings.Cut(line, " ")
			all = append(all, entry{number: number, asks: asks})
		case len(all) == 0:
			t.Fatalf("%q belongs to no requirement", line)
		default:
			last := &all[len(all)-1]
			last.tests = append(last.tests, test)
		}
	}
	return all
}

func TestEveryNumberHasOneEntry(t *testing.T) {
	seen := map[string]int{}
	for _, e := range entries(t) {
		seen[e.number]++
		if e.asks == "" || len(e.tests) == 0 {
			t.Errorf("%s: text %q, %d tests", e.number, e.asks, len(e.tests))
		}
	}
	known := strings.Fields(numbers)
	for _, number := range known {
		if seen[number] != 1 {
			t.Errorf("%s: %d entries, want one", number, seen[number])
		}
	}
	for number := range seen {
		if !slices.Contains(known, number) {
			t.Errorf("%s is not a known requirement number", number)
		}
	}
}

func TestEveryNamedTestExists(t *testing.T) {
	known := suites{}
	for _, e := range entries(t) {
		for _, test := range e.tests {
			match := cited.FindStringSubmatch(test)
			if match == nil {
				t.Errorf("%s: %q is not PACKAGE: Test/case", e.number, test)
				continue
			}
			suite := known.of(t, match[1])
			switch {
			case !suite.functions[match[2]]:
				t.Errorf("%s: package %s has no %s", e.number, match[1], match[2])
			case match[3] != "" && !suite.has(match[3]):
				t.Errorf("%s: %s of %s has no case %q", e.number, match[2], match[1], match[3])
			}
		}
	}
}

// suite contains the names of the functions in the test files of a package, and the names of test cases.
type suite struct{ functions, names map[string]bool }

type suites map[string]suite

func (known suites) of(t *testing.T, pkg string) suite {
	t.Helper()
	if s, ok := known[pkg]; ok {
		return s
	}
	s := suite{functions: map[string]bool{}, names: map[string]bool{}}
	folder := filepath.Join(testutil.Root(), pkg)
	files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
	if err != nil || len(files) == 0 {
		t.Errorf("package %s: %d test files, error %v", pkg, len(files), err)
	}
	for _, path := range files {
		s.read(t, path)
	}
	s.readCases(t, pkg)
	known[pkg] = s
	return s
}

// read adds the functions and the string literals in a file, because string literals can be case names.
func (s suite) read(t *testing.T, path string) {
	t.Helper()
	ast.Inspect(parse(t, path), func(node ast.Node) bool {
		switch node := node.(type) {
		case *ast.FuncDecl:
			s.functions[node.Name.Name] = true
		case *ast.BasicLit:
			if text, err := strconv.Unquote(node.Value); err == nil && node.Kind == token.STRING {
				s.names[text] = true
			}
		}
		return true
	})
}

// readCases adds the folders and archives of golden cases and, for the two packages that run the table of objects, the
// names in that table.
func (s suite) readCases(t *testing.T, pkg string) {
	t.Helper()
	testdata := filepath.Join(testutil.Root(), pkg, "testdata")
	err := filepath.WalkDir(testdata, func(path string, entry os.DirEntry, err error) error {
		name, archive := strings.CutSuffix(strings.TrimPrefix(path, testdata+"/"), ".txtar")
		if err == nil && (archive || entry.IsDir() && path != testdata) {
			s.names[name] = true
		}
		return err
	})
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	if pkg != "internal/core/validate" && pkg != "test/api" {
		return
	}
	table, err := casetable.Load(filepath.Join(testutil.Root(), casetable.Folder))
	testutil.Must(t, err)
	for _, c := range table.Cases {
		s.names[c.Topic+"/"+c.Name] = true
	}
}

func (s suite) has(name string) bool { return s.names[name] }

func parse(t *testing.T, path string) *ast.File {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
	testutil.Must(t, err)
	return file
}
