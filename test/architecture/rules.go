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

// Rule is one row of the table: a package or a tree of packages, and the other packages that it may import.
type Rule struct {
	// Path is a pattern for paths below the module: "internal/plan", or "internal/stackconfig/..." for a package and all
	// packages below it.
	Path string
	Kind Kind
	// Imports are patterns of packages below the module. Packages of one rule may import one another.
	Imports []string
}

// These are groups of packages that several rows may import.
var (
	types = []string{"api/..."}
	facts = slices.Concat(types, []string{
		"internal/stackconfig/provider", "internal/stackconfig/release", "internal/stackconfig/schema",
	})
	belowPlan = slices.Concat(types, []string{
		"internal/names", "internal/envref", "internal/suggest", "internal/intent", "internal/stackconfig/...",
		"internal/distribution",
		"internal/externalprovider", "internal/validate", "internal/volume", "internal/bounds", "internal/cabundle",
		"internal/convert",
		"internal/imagename", "internal/jsontext", "internal/podtemplate", "internal/render/...", "internal/rollout",
		"internal/retention",
		"internal/startup", "internal/status", "internal/quantity", "internal/typecheck", "internal/plan/settingpath",
	})
	pure = slices.Concat(belowPlan, []string{
		"internal/facts", "internal/plan", "internal/plan/compare", "internal/refusal",
	})
	adapters = slices.Concat(pure, []string{
		"internal/operatorconfig", "internal/resolve/...", "internal/apply", "internal/probe",
	})
)

// Rules is the table that this repository must follow, from the bottom up. The first row that matches a package applies
// to it. The test fails for a package without a row, so the author of a package must first decide which packages it may
// import.
var Rules = []Rule{
	{Path: "api/...", Kind: API},

	{Path: "internal/names", Kind: Pure, Imports: types},
	{Path: "internal/envref", Kind: Pure},
	{Path: "internal/suggest", Kind: Pure},
	{Path: "internal/intent", Kind: Pure, Imports: []string{
		"api/...", "internal/names", "internal/envref",
		"internal/suggest",
	}},
	{Path: "internal/stackconfig/schema", Kind: Pure, Imports: []string{"internal/envref", "internal/suggest"}},
	{Path: "internal/stackconfig/yamlnode", Kind: Pure},
	{Path: "internal/stackconfig/baseconfig", Kind: Pure, Imports: []string{"internal/stackconfig/yamlnode"}},
	{Path: "internal/externalprovider", Kind: Pure, Imports: []string{
		"internal/stackconfig/baseconfig",
		"internal/stackconfig/yamlnode",
	}},
	{Path: "internal/stackconfig/...", Kind: Pure, Imports: []string{
		"api/...", "internal/names", "internal/envref", "internal/suggest", "internal/intent", "internal/externalprovider",
	}},
	{Path: "internal/distribution", Kind: Pure, Imports: facts},
	{Path: "internal/imagename", Kind: Pure},
	{Path: "internal/cabundle", Kind: Pure},
	{Path: "internal/quantity", Kind: Pure},
	{Path: "internal/typecheck", Kind: Pure, Imports: []string{"internal/quantity", "internal/suggest"}},
	{Path: "internal/bounds", Kind: Pure, Imports: []string{"api/...", "internal/imagename", "internal/typecheck"}},
	{Path: "internal/podspec", Kind: Pure, Imports: []string{"internal/intent", "internal/quantity"}},
	{Path: "internal/podtemplate", Kind: Pure, Imports: []string{"internal/names", "internal/typecheck"}},
	{Path: "internal/jsontext", Kind: Pure},
	{Path: "internal/convert", Kind: Pure, Imports: []string{
		"api/...", "internal/names", "internal/jsontext",
		"internal/typecheck",
	}},
	{Path: "internal/manifest", Kind: Pure, Imports: []string{
		"api/...", "internal/names", "internal/convert", "internal/suggest", "internal/typecheck",
		"internal/stackconfig/yamlnode",
	}},
	{Path: "internal/ogxserver", Kind: Pure, Imports: []string{
		"api/...", "internal/names", "internal/envref", "internal/typecheck", "internal/distribution", "internal/quantity",
		"internal/stackconfig/release",
	}},
	{Path: "internal/validate", Kind: Pure, Imports: []string{
		"api/...", "internal/names", "internal/suggest", "internal/intent", "internal/stackconfig/...",
		"internal/distribution",
		"internal/podspec", "internal/podtemplate",
	}},
	{Path: "internal/volume", Kind: Pure, Imports: []string{"api/...", "internal/names", "internal/intent"}},
	{Path: "internal/operatorconfig", Kind: Pure, Imports: []string{
		"internal/bounds", "internal/imagename", "internal/stackconfig/release", "internal/suggest", "internal/distribution",
		"internal/validate",
	}},
	{Path: "internal/render/...", Kind: Pure, Imports: []string{
		"api/...", "internal/names", "internal/envref",
		"internal/podtemplate", "internal/stackconfig/release",
	}},
	{Path: "internal/startup", Kind: Pure},
	{Path: "internal/retention", Kind: Pure, Imports: []string{
		"internal/names", "internal/envref", "internal/stackconfig/provider", "internal/stackconfig/release",
		"internal/stackconfig/yamlnode",
	}},
	{Path: "internal/rollout", Kind: Pure, Imports: []string{"api/...", "internal/names", "internal/retention"}},
	{Path: "internal/status", Kind: Pure, Imports: []string{"api/...", "internal/names"}},
	{Path: "internal/refusal", Kind: Pure, Imports: types},
	{Path: "internal/plan/settingpath", Kind: Pure, Imports: []string{"internal/envref", "internal/stackconfig/yamlnode"}},
	{Path: "internal/plan", Kind: Pure, Imports: belowPlan},
	{Path: "internal/plan/compare", Kind: Pure, Imports: slices.Concat(belowPlan, []string{"internal/plan"})},
	{Path: "internal/facts", Kind: Pure, Imports: slices.Concat(belowPlan, []string{"internal/operatorconfig"})},
	{Path: "internal/absorb", Kind: Pure, Imports: pure},
	{Path: "internal/redact", Kind: Pure, Imports: []string{
		"internal/envref", "internal/names", "internal/stackconfig/credential",
	}},
	{Path: "internal/doctor", Kind: Pure, Imports: []string{
		"api/...", "internal/names", "internal/operatorconfig", "internal/status",
	}},
	{Path: "internal/support", Kind: Pure, Imports: []string{"internal/doctor", "internal/redact"}},
	{Path: "internal/cli/view/...", Kind: Pure, Imports: []string{
		"api/...", "internal/names", "internal/envref", "internal/stackconfig/release", "internal/stackconfig/yamlnode",
		"internal/status",
	}},

	{Path: "internal/informer"},
	{Path: "internal/salvage", Imports: []string{"api/...", "internal/jsontext", "internal/names", "internal/typecheck"}},
	{Path: "internal/share"},
	{Path: "internal/stub", Imports: []string{"api/...", "internal/names"}},
	{Path: "internal/resolve/...", Imports: slices.Concat(pure, []string{"internal/share"})},
	{Path: "internal/apply", Imports: []string{"internal/names"}},
	{Path: "internal/trial", Imports: []string{"api/...", "internal/names", "internal/refusal", "internal/render"}},
	{Path: "internal/webhook/intake"},
	{Path: "internal/webhook/listener"},
	{Path: "internal/webhook/conversion", Imports: []string{
		"internal/convert", "internal/jsontext", "internal/webhook/intake",
	}},
	{Path: "internal/probe", Imports: []string{"api/...", "internal/names", "internal/share"}},
	{Path: "internal/webhook/admission", Imports: slices.Concat(pure, []string{
		"internal/operatorconfig", "internal/share", "internal/trial", "internal/webhook/intake",
	})},
	{Path: "internal/migration/...", Imports: []string{"api/...", "internal/names", "internal/status"}},
	{Path: "internal/controller/metrics", Imports: []string{"api/...", "internal/operatorconfig"}},
	{Path: "internal/controller/queue"},
	{Path: "internal/controller", Imports: slices.Concat(adapters, []string{
		"internal/controller/metrics", "internal/controller/queue", "internal/share", "internal/stub",
	})},
	{Path: "internal/webhook/certificate", Imports: []string{"api/...", "internal/names", "internal/informer"}},
	{Path: "internal/manager/scrape"},
	{Path: "internal/manager", Imports: slices.Concat(adapters, []string{
		"internal/controller", "internal/webhook/admission", "internal/webhook/certificate",
		"internal/webhook/conversion", "internal/webhook/listener", "internal/manager/scrape",
		"internal/informer", "internal/migration/...", "internal/salvage", "internal/stub",
	})},
	{Path: "internal/bundle", Imports: []string{"internal/imagename"}},
	{Path: "internal/cli/change", Kind: Pure, Imports: slices.Concat(pure, []string{"internal/redact"})},
	{Path: "internal/cli/findings", Kind: Pure},
	{Path: "internal/cli/document", Kind: Pure, Imports: []string{"internal/stackconfig/yamlnode"}},
	{Path: "internal/cli/dryrun", Kind: Pure, Imports: slices.Concat(pure, []string{
		"internal/cli/document", "internal/cli/findings", "internal/ogxserver", "internal/operatorconfig",
	})},
	{Path: "internal/playground", Kind: Pure, Imports: slices.Concat(pure, []string{
		"internal/cli/document", "internal/cli/dryrun", "internal/cli/findings",
	})},
	{Path: "internal/cli/upgrade", Kind: Pure, Imports: slices.Concat(pure, []string{"internal/cli/change", "internal/redact"})},
	{Path: "config"},
	{Path: "internal/cli/definition", Imports: slices.Concat(types, []string{"config", "internal/convert"})},
	{Path: "internal/cli/...", Imports: slices.Concat(pure, []string{
		"internal/absorb", "internal/apply", "internal/manifest", "internal/ogxserver", "internal/operatorconfig",
		"internal/migration", "internal/trial",
		"internal/resolve/registry", "internal/bundle", "internal/doctor", "internal/probe", "internal/redact",
		"internal/salvage", "internal/support",
	})},

	{Path: "cmd/manager", Imports: []string{"internal/manager"}},
	{Path: "cmd/kubectl-llamastack", Imports: []string{"internal/cli"}},
	{Path: "web/playground/wasm", Imports: []string{"internal/playground"}},

	// These rows are for test tools, tests and scripts, which no package of the product may import.
	{Path: "internal/testutil/...", Imports: adapters},
	{Path: "internal/controller/controllertest", Imports: slices.Concat(adapters, []string{
		"internal/controller", "internal/manager", "internal/testutil/...",
	})},
	{Path: "test/...", Imports: []string{"..."}},
	{Path: "hack/...", Imports: slices.Concat(adapters, []string{
		"internal/bundle", "internal/cli", "internal/cli/kube", "internal/manager",
	})},
}

// find returns the first row that matches pkg, a path below the module.
func find(rules []Rule, pkg string) (Rule, bool) {
	for _, rule := range rules {
		if matches(rule.Path, pkg) {
			return rule, true
		}
	}
	return Rule{}, false
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
