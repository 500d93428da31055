package architecture

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestDependencies(t *testing.T) {
	packages := list(t)
	if len(packages) < 3 {
		t.Fatalf("go list found only %d packages", len(packages))
	}
	for _, problem := range Check(module, Rules, packages) {
		t.Error(problem)
	}
}

// list runs `go list` over the whole module. With the option -e, `go list` does not fail for packages that do not
// build. Other tests report these packages.
func list(t *testing.T) []Package {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-e", "-json=ImportPath,Imports", module+"/...")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v\n%s", err, stderr.String())
	}
	var packages []Package
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var pkg Package
		err := decoder.Decode(&pkg)
		if errors.Is(err, io.EOF) {
			return packages
		}
		if err != nil {
			t.Fatalf("go list printed invalid JSON: %v", err)
		}
		packages = append(packages, pkg)
	}
}

// impure returns the problem of internal/names with an import of the standard library.
func impure(imported string) string {
	return "internal/names: imports " + imported +
		": a pure package must not use files, processes, the network, logs or random values; remove the import"
}

// TestDependencies shows that Check accepts every allowed import.
func TestCheck(t *testing.T) {
	rules := []Rule{
		{Path: "api/...", Kind: API},
		{Path: "internal/names", Kind: Pure, Imports: []string{"api/..."}},
		{Path: "internal/engine/...", Kind: Pure, Imports: []string{"api/..."}},
		{Path: "internal/controller", Imports: []string{"internal/names", "internal/engine/..."}},
		{Path: "internal/cli/...", Imports: []string{"internal/names"}, Apart: true},
	}
	tests := map[string]struct {
		pkg     string
		imports []string
		want    []string
	}{
		"a package without a row": {
			pkg:  "internal/utils",
			want: []string{"internal/utils: no row in Rules matches the package; add a row with the packages that this package may import"},
		},
		"up": {
			pkg: "internal/names", imports: []string{module + "/internal/controller"},
			want: []string{"internal/names: imports " + module + "/internal/controller: internal/names must not import this package; " +
				"remove the import, or add the package to the row for internal/names in Rules"},
		},
		"sideways": {
			pkg: "internal/engine", imports: []string{module + "/internal/names"},
			want: []string{"internal/engine: imports " + module + "/internal/names: internal/engine/... must not import this package; " +
				"remove the import, or add the package to the row for internal/engine/... in Rules"},
		},
		"between separate folders": {
			pkg: "internal/cli/render", imports: []string{module + "/internal/cli/renderer"},
			want: []string{"internal/cli/render: imports " + module + "/internal/cli/renderer: internal/cli/... must not import this package; " +
				"remove the import, or add the package to the row for internal/cli/... in Rules"},
		},
		"an API importing controller-runtime": {
			pkg: "api/v1", imports: []string{"sigs.k8s.io/controller-runtime/pkg/scheme"},
			want: []string{"api/v1: imports sigs.k8s.io/controller-runtime/pkg/scheme: api may import only k8s.io/{api,apimachinery,apiextensions-apiserver}; remove the import"},
		},
		"a pure package with a client": {
			pkg: "internal/names", imports: []string{"k8s.io/client-go/kubernetes"},
			want: []string{"internal/names: imports k8s.io/client-go/kubernetes: a pure package may import only " +
				"the libraries in pureLibraries; remove the import, or add the library to this list"},
		},
		"several forbidden standard packages, sorted": {
			pkg: "internal/names", imports: []string{"os/exec", "net/http", "log", "os", "crypto/rand"},
			want: []string{
				impure("crypto/rand"), impure("log"), impure("net/http"), impure("os/exec"), impure("os"),
			},
		},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			pkg := Package{ImportPath: strings.TrimSuffix(module+"/"+test.pkg, "/"), Imports: test.imports}
			foreign := Package{ImportPath: "example.com/else", Imports: []string{"os"}}
			got := Check(module, rules, []Package{foreign, pkg})
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// Some rules about a stack are in one place, so that the operator, the webhook and all commands conclude the same. The
// facts that they use are read in one package of the command line and in one of the operator.
func TestOnePlace(t *testing.T) {
	root := os.DirFS("../..")
	files := product(t)
	for what, tc := range map[string]struct {
		code     string
		packages []string
		pure     bool // includes pure packages
	}{
		"reads Deployments": {
			`(appsv1\.Deployment(List)?\{)|(var \w+ appsv1\.Deployment)|(new\(appsv1\.Deployment)`,
			[]string{"internal/cli/app/kube", "internal/operator/controller"},
			false,
		},
		"decides which ConfigMap of another namespace may be read": {
			`names\.AllowsNamespace\(|\.Record\.Elsewhere`, []string{"internal/core/facts"}, true,
		},
		"decides whether the certificate in a Secret is usable": {
			`cabundle\.CheckSecret\(`, []string{"internal/core/facts"}, true,
		},
		"asks whether a running stack keeps its base": {`\.KeepsBase\(`, []string{"internal/core/plan"}, true},
		"decides whether a stack was created as v1alpha1": {
			`== names\.CompatV1Alpha1`, []string{"internal/core/profile", "internal/migrate/convert"}, true,
		},
	} {
		var found []string
		for i := range files {
			file := &files[i]
			if rule, _ := find(Rules, file.Package()); rule.Kind != IO && !tc.pure {
				continue
			}
			text, err := fs.ReadFile(root, file.Path)
			if err != nil {
				t.Fatal(err)
			}
			if regexp.MustCompile(tc.code).Match(text) && !slices.Contains(found, file.Package()) {
				found = append(found, file.Package())
			}
		}
		if diff := cmp.Diff(tc.packages, found); diff != "" {
			t.Errorf("the code that %s (-want +got):\n%s", what, diff)
		}
	}
}

// The folder of a package decides what the package may import, so a new one needs no row.
func TestNewPackagesNeedNoRow(t *testing.T) {
	for tree, kind := range map[string]Kind{
		"api": API, "internal/core": Pure, "internal/core/stackconfig": Pure, "internal/migrate": Pure,
		"internal/cluster": IO, "internal/operator": IO, "internal/cli": IO, "internal/cli/app": IO,
	} {
		rule, found := find(Rules, tree+"/new")
		if !found || rule.Path != tree+"/..." || rule.Kind != kind {
			t.Errorf("%s/new has the row %+v", tree, rule)
		}
	}
}

// A row must refer only to rows above it in the table, so that there are no cycles. The row for test/... may refer to
// all packages.
func TestRulesNameRowsAbove(t *testing.T) {
	for i, rule := range Rules {
		for _, pattern := range rule.Imports {
			if pattern == "..." {
				continue
			}
			at := slices.IndexFunc(Rules, func(r Rule) bool {
				return r.Path == pattern || matches(r.Path, strings.TrimSuffix(pattern, "/..."))
			})
			if at < 0 {
				t.Errorf("%s may import %s, which has no row", rule.Path, pattern)
			} else if at > i {
				t.Errorf("%s may import %s, whose row is not above its own row", rule.Path, pattern)
			}
		}
	}
}
