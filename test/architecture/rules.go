package architecture

import (
	"slices"
	"strings"
)

// Kind determines which packages from outside the module a rule's packages may import.
type Kind int

const (
	// IO packages may import anything.
	IO Kind = iota
	// Pure packages use no client, clock, network, environment or randomness.
	Pure
	// API packages contain types that other modules import. They are pure, and have few dependencies.
	API
)

// Rule is one row of the table: a tree of packages, and the other packages that it may import.
type Rule struct {
	// Path is a pattern for paths below the module: "cmd/manager" for a package, or "internal/core/..." for a package and
	// all packages below it.
	Path string
	Kind Kind
	// Imports are patterns of packages below the module. Packages of one rule may import one another, unless Apart is set.
	Imports []string
	// Apart keeps the folders of the tree apart: a package in one of them imports no package of another. The package at
	// the top of the tree imports them all.
	Apart bool
}

// Rules is the table that this repository must follow, from the bottom up. The longest row that matches a package
// applies to it. The folder of a package decides what it may import and whether it is pure, so a new package needs no
// row.
var Rules = []Rule{
	{Path: "api/...", Kind: API},
	{Path: "config"},
	{Path: "internal/core/...", Kind: Pure, Imports: coreAndAPI},
	{Path: "internal/core/stackconfig/...", Kind: Pure, Imports: engine},
	{Path: "internal/migrate/...", Kind: Pure, Imports: coreAndAPI},
	{Path: "internal/core/dryrun", Kind: Pure, Imports: slices.Concat(coreAndAPI, []string{"internal/migrate/..."})},
	{Path: "internal/cluster/...", Imports: slices.Concat(coreAndAPI, []string{"internal/migrate/..."})},
	{Path: "internal/operator/controller/controllertest", Imports: []string{"..."}},
	{Path: "internal/operator/...", Imports: above},
	{Path: "internal/cli/app/...", Imports: above},
	{Path: "internal/cli/...", Imports: slices.Concat(above, []string{"internal/cli/app/..."}), Apart: true},
	{Path: "internal/playground", Kind: Pure, Imports: slices.Concat(coreAndAPI, []string{"internal/migrate/..."})},
	{Path: "cmd/manager", Imports: []string{"internal/operator/..."}},
	{Path: "cmd/kubectl-llamastack", Imports: []string{"internal/cli"}},
	{Path: "web/playground/wasm", Imports: []string{"internal/playground"}},

	// These rows are for tests and tools, which no package of the product may import.
	{Path: "internal/testutil/...", Imports: []string{"..."}},
	{Path: "test/...", Imports: []string{"..."}},
	{Path: "hack/...", Imports: []string{"..."}},
}

var (
	// engine are the packages that the engine builds on. It knows neither plans nor objects of Kubernetes.
	engine = []string{
		"api/...", "internal/core/names", "internal/core/envref", "internal/core/suggest", "internal/core/intent",
		"internal/core/externalprovider",
	}
	coreAndAPI = []string{"api/...", "internal/core/..."}
	above      = []string{"api/...", "config", "internal/core/...", "internal/migrate/...", "internal/cluster/..."}
)

// find returns the longest row that matches pkg, a path below the module.
func find(rules []Rule, pkg string) (longest Rule, found bool) {
	for _, rule := range rules {
		if matches(rule.Path, pkg) && len(rule.Path) > len(longest.Path) {
			longest, found = rule, true
		}
	}
	return longest, found
}

// within reports whether a package of the rule may import another package of the rule.
func (r *Rule) within(pkg, imported string) bool {
	if !r.Apart || !matches(r.Path, imported) {
		return matches(r.Path, imported)
	}
	tree := strings.TrimSuffix(r.Path, "/...")
	folder, _, _ := strings.Cut(strings.TrimPrefix(pkg, tree+"/"), "/")
	return pkg == tree || matches(tree+"/"+folder+"/...", imported)
}

// matches reports whether a pattern of the go command matches a package: "a/..." matches a and every package below it,
// and "..." matches every package.
func matches(pattern, pkg string) bool {
	if pattern == "..." {
		return true
	}
	if tree, ok := strings.CutSuffix(pattern, "/..."); ok {
		return pkg == tree || strings.HasPrefix(pkg, tree+"/")
	}
	return pkg == pattern
}

func matchesAny(patterns []string, pkg string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return matches(pattern, pkg) })
}
