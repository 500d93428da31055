package architecture

import (
	"fmt"
	"slices"
	"strings"
)

// Package contains those properties of a package that the check needs, from the output of `go list -json`.
type Package struct {
	ImportPath string
	// Imports are the direct imports of the package, without those of its tests.
	Imports []string
}

// These patterns match the libraries that packages of each kind may import. Pure packages may import libraries that
// work only on values in memory.
var (
	apiLibraries  = []string{"k8s.io/api/...", "k8s.io/apimachinery/...", "k8s.io/apiextensions-apiserver/..."}
	pureLibraries = append([]string{
		"github.com/go-json-experiment/json/jsontext",
		"github.com/google/go-containerregistry/pkg/name",
		"github.com/klauspost/compress/zstd",
		"github.com/pmezard/go-difflib/difflib",
		"go.yaml.in/yaml/v2",
		"go.yaml.in/yaml/v3",
		"golang.org/x/crypto/x509roots/fallback/bundle",
		"k8s.io/client-go/applyconfigurations/...",
		"k8s.io/pod-security-admission/api",
		"k8s.io/pod-security-admission/policy",
		"k8s.io/utils/...",
		"sigs.k8s.io/gateway-api/apis/...",
		"sigs.k8s.io/gateway-api/applyconfiguration/...",
		"sigs.k8s.io/json",
		"sigs.k8s.io/yaml/...",
	}, apiLibraries...)
)

// worldly lists the standard packages that a pure package must not use, such as those for files, processes, the
// network, logs and random values. harmless lists the exceptions below them, which only parse values.
var (
	worldly = []string{
		"crypto/rand", "io/ioutil", "log/...", "math/rand/...", "net/...", "os/...", "plugin", "syscall",
		"testing/...", "unsafe",
	}
	harmless = []string{"net/netip", "net/url"}
)

// Check returns a sorted list with a sentence for each import that violates the table, and for each package of the
// module without a row. The list is empty if there is no violation.
func Check(module string, rules []Rule, packages []Package) []string {
	var problems []string
	for _, pkg := range packages {
		path, ours := below(module, pkg.ImportPath)
		if !ours {
			continue
		}
		rule, found := find(rules, path)
		if !found {
			problems = append(problems, fmt.Sprintf("%s: no row in Rules matches the package; add a row with the packages that this package may import", path))
			continue
		}
		for _, imported := range pkg.Imports {
			if complaint := complain(module, path, &rule, imported); complaint != "" {
				problems = append(problems, fmt.Sprintf("%s: imports %s: %s", path, imported, complaint))
			}
		}
	}
	slices.Sort(problems)
	return problems
}

// complain describes how an import of a package violates a rule. It returns an empty string if the import is allowed.
func complain(module, pkg string, rule *Rule, imported string) string {
	if path, ours := below(module, imported); ours {
		if rule.within(pkg, path) || matchesAny(rule.Imports, path) {
			return ""
		}
		return fmt.Sprintf("%[1]s must not import this package; remove the import, or add the package to the row for %[1]s in Rules",
			rule.Path)
	}
	if rule.Kind == IO {
		return ""
	}
	if standard(imported) {
		if matchesAny(worldly, imported) && !matchesAny(harmless, imported) {
			return "a pure package must not use files, processes, the network, logs or random values; remove the import"
		}
		return ""
	}
	return complainLibrary(rule.Kind, imported)
}

func complainLibrary(kind Kind, imported string) string {
	switch {
	case kind == API && !matchesAny(apiLibraries, imported):
		return "api may import only k8s.io/{api,apimachinery,apiextensions-apiserver}; remove the import"
	case kind == Pure && !matchesAny(pureLibraries, imported):
		return "a pure package may import only the libraries in pureLibraries; remove the import, or add the library to this list"
	default:
		return ""
	}
}

// below returns the path of an import relative to the module, which is "." for the module's root.
func below(module, importPath string) (string, bool) {
	if importPath == module {
		return ".", true
	}
	return strings.CutPrefix(importPath, module+"/")
}

// standard reports whether an import path belongs to the standard library, by the go command's rule: only a path
// outside the standard library has a dot in its first element.
func standard(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".")
}
