package docs

import (
	"go/ast"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/llamastack/llama-stack-k8s-operator/internal/operator/manager"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// neverShown lists the names of the reasons that never appear in the status.
var neverShown = []string{"ReasonProgressing"}

const (
	troubleshooting = "docs/troubleshooting"
	statusPage      = "docs/reference/status.md"
)

var (
	// entryHeading matches a heading that begins with conditions, reasons or events.
	entryHeading = regexp.MustCompile("(?m)^#+ ((?:`[A-Za-z]+`(?:, )?)+): ")
	// entryRow matches a table row that begins with an anchor and a condition, reason or event.
	entryRow = regexp.MustCompile("(?m)^\\| <a id=\"[a-z]+\"></a>`([A-Za-z]+)` \\|")
)

// The pages in docs/troubleshooting have exactly one entry for each condition, reason and event that the code writes,
// except the reasons in neverShown, and no other entries.
func TestTroubleshooting(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testutil.Root(), troubleshooting, "*.md"))
	testutil.Must(t, err)
	entries := map[string]int{}
	for _, path := range files {
		text := readPage(t, filepath.Join(troubleshooting, filepath.Base(path))).text
		for _, match := range entryHeading.FindAllStringSubmatch(text, -1) {
			for _, name := range span.FindAllStringSubmatch(match[1], -1) {
				entries[name[1]]++
			}
		}
		for _, match := range entryRow.FindAllStringSubmatch(text, -1) {
			entries[match[1]]++
		}
	}
	used := usedNames(t)
	wanted := map[string]bool{}
	for name, value := range constants(t, "api/v1alpha2/conditions.go") {
		wanted[value] = wanted[value] || used[name] && !slices.Contains(neverShown, name)
	}
	if len(wanted) < 40 {
		t.Fatalf("found %d conditions, reasons and events", len(wanted))
	}
	for value, want := range wanted {
		if want != (entries[value] == 1) {
			t.Errorf("%s has %d entries for %s; the code writes it: %t", troubleshooting, entries[value], value, want)
		}
	}
	for value := range entries {
		if !wanted[value] {
			t.Errorf("%s has an entry for %s, which the code does not write", troubleshooting, value)
		}
	}
}

// The page about the status contains the conditions and reasons that only users of v1alpha1 see.
func TestConditionsOfV1Alpha1(t *testing.T) {
	table := readPage(t, statusPage).section(t, "What users of v1alpha1 see")
	values := constants(t, "api/v1alpha1/conditions.go")
	if len(values) < 8 {
		t.Fatalf("found %d conditions and reasons", len(values))
	}
	for name, value := range values {
		if !strings.Contains(table, "`"+value+"`") {
			t.Errorf("%s does not contain v1alpha1.%s, %s", statusPage, name, value)
		}
	}
}

// The name of every condition, reason and event that the code writes occurs in the tests of the controller, of the
// webhooks or of roll-outs, except the reasons in neverShown.
func TestConditionsHaveATest(t *testing.T) {
	tested := map[string]bool{}
	for _, pattern := range []string{
		"internal/operator/controller/*_test.go", "internal/operator/controller/*/*_test.go",
		"internal/operator/controller/controllertest/*.go", "internal/operator/webhook/*/*_test.go", "test/rollout/*_test.go",
	} {
		files, err := filepath.Glob(filepath.Join(testutil.Root(), pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("found %d tests at %s, error %v", len(files), pattern, err)
		}
		for _, path := range files {
			collectNames(parse(t, path), tested)
		}
	}
	used := usedNames(t)
	for name := range constants(t, "api/v1alpha2/conditions.go") {
		if used[name] && !tested[name] && !slices.Contains(neverShown, name) {
			t.Errorf("no test of the controller, the webhooks or roll-outs contains v1alpha2.%s", name)
		}
	}
}

// constants returns the string constants in a file, keyed by name.
func constants(t *testing.T, path string) map[string]string {
	t.Helper()
	values := map[string]string{}
	ast.Inspect(parse(t, filepath.Join(testutil.Root(), path)), func(node ast.Node) bool {
		spec, ok := node.(*ast.ValueSpec)
		if !ok || len(spec.Values) != len(spec.Names) {
			return true
		}
		for i, name := range spec.Names {
			if literal, ok := spec.Values[i].(*ast.BasicLit); ok {
				if value, err := strconv.Unquote(literal.Value); err == nil {
					values[name.Name] = value
				}
			}
		}
		return true
	})
	return values
}

// usedNames returns the names from the API package that the product's code uses.
func usedNames(t *testing.T) map[string]bool {
	t.Helper()
	used := map[string]bool{}
	err := filepath.WalkDir(filepath.Join(testutil.Root(), "internal"),
		func(path string, entry fs.DirEntry, err error) error {
			if entry != nil && entry.Name() == "controllertest" {
				return fs.SkipDir // the folder contains only test code
			}
			if err != nil || entry.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
				return err
			}
			collectNames(parse(t, path), used)
			return nil
		})
	testutil.Must(t, err)
	return used
}

// collectNames adds the names from the API package that a file uses.
func collectNames(file *ast.File, names map[string]bool) {
	ast.Inspect(file, func(node ast.Node) bool {
		if selector, ok := node.(*ast.SelectorExpr); ok {
			if pkg, ok := selector.X.(*ast.Ident); ok && pkg.Name == "v1alpha2" {
				names[selector.Sel.Name] = true
			}
		}
		return true
	})
}

var optionRow = regexp.MustCompile("(?m)^\\| `--([a-z-]+)` \\|[^|]*\\|([^|]*)\\|")

// The page about the operator's command line contains all options with their defaults, and no other options.
func TestOptions(t *testing.T) {
	flags := pflag.NewFlagSet("manager", pflag.ContinueOnError)
	new(manager.Options).BindFlags(flags)
	documented := map[string]string{}
	for _, match := range optionRow.FindAllStringSubmatch(readPage(t, optionsPage).section(t, "Options"), -1) {
		documented[match[1]] = strings.TrimSpace(match[2])
	}
	flags.VisitAll(func(flag *pflag.Flag) {
		cell, ok := documented[flag.Name]
		if !ok {
			t.Errorf("%s does not contain --%s", optionsPage, flag.Name)
		}
		if flag.DefValue != "" && flag.DefValue != "[]" && cell != "`"+flag.DefValue+"`" {
			t.Errorf("%s: the default of --%s is %q, not %s", optionsPage, flag.Name, flag.DefValue, cell)
		}
		delete(documented, flag.Name)
	})
	for name := range documented {
		t.Errorf("%s: there is no option --%s", optionsPage, name)
	}
}
