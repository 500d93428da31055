package corpus_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/corpus"
)

// checked lists the packages in which every text for users needs a case. It does not contain the packages intent and
// validate: their rules are about the form of an object and do not depend on the release, and their own tests have a
// case for each rule.
var checked = []string{
	"internal/core/stackconfig", "internal/core/stackconfig/baseconfig", "internal/core/stackconfig/check",
	"internal/core/stackconfig/draft",
	"internal/core/stackconfig/providers", "internal/core/stackconfig/resources", "internal/core/stackconfig/schema",
	"internal/core/stackconfig/secretvalue", "internal/core/stackconfig/storage",
}

// toldElsewhere lists texts without a case, and the reason for each text. The test fails if such a text has a case or
// no longer exists.
var toldElsewhere = map[string]string{
	"# LlamaStackDistribution: %s\n# Distribution: %s\n# Server release: %s\n":        header,
	"# Generated. Change the LlamaStackDistribution, not this file.\n":                header,
	"line %d: the document has more than %d bytes after its aliases are expanded; %s": "TestParseErrors: a case is one mistake in a stack, not a base of a megabyte",

	"not known, configured as ":        header,
	"; the server release is unknown)": "only for an image of an unknown release: TestGenerate/aliases/unknown-release",
	"no %[1]s are registered, so requests that use this default fail until a client registers %[2]q; add %[2]q to spec.resources.%[1]s": "the server starts (server fact 59): TestSettingsOfOtherReleases",
	"%s; server release %s registers only one of them; keep one of them":                                                                "the server starts: TestGenerate/resources/one-name-of-two-models-in-0.2",
	"override config: %w":                                           override,
	"override config: server must be a mapping, got %s":             override,
	"%q is not a part of a connection string":                       "the parts are constants, so only a defect can cause this message",
	"%q is not an API; known APIs: %s":                              "package validate rejects such an API before",
	"server release %s has no %s store of type %q; known types: %s": "every release has all types in the CRD",
	"required key is missing; its value must be %s":                 "the engine has another message for this problem",
	"an unknown value":                                              "the kind of an alias, and aliases are expanded when a base is read",
	"any value":                                                     "the type of a key that accepts every value",
	"%s of at least %s":                                             "no key has the limit",
	"%s of at most %s":                                              "no key has the limit",
	"and %d more":                                                   many,
	"%s: clients use the name %q for this model":                    "the output of plan for each model, and not a message about a problem",
	"text that matches ":                                            "the engine has a description for every pattern in the release data",
	"a value other than ":                                           "the engine has no case of a key with excluded values: TestTextLimits of package schema",
	"remove one of the two providers":                               external,
	"the image":                                                     ownImage,
	", so the server starts only if the image adds this type":       ownImage,
	"any known release":                                             ownImage,
	", so the server does not start if the variable ":               "only with envFrom, and then the server can start: TestUnknownTypes",
	"remove the API from apis":                                      ownConfig,
	"with %s and a provider of the API %s, the server does not start without this store; add the store": ownConfig,
	"remove this provider": ownConfig,
	"is a credential in clear text, which anyone who can pull the image can read; ":     labels,
	"write ${env.NAME} here, and set NAME from a Secret in spec.secretEnv of the stack": labels,
}

const (
	header   = "the header of the file, not a message"
	override = "the server reads an override unchanged: TestOverrideCopy"
	external = "the cases have no images with external providers: TestGenerate/external"
	labels   = "only for a configuration in the label of an image: TestClearText"
	// A case is a stack whose configuration the operator generates.
	ownConfig = "only for a user's own configuration: TestOverride, TestOverrideVariables"
	ownImage  = "only for an image that is not published: TestUnknownTypes, TestOverrideVariables"
	many      = "TestManyFindings, TestManyNames: a case is one mistake"
)

// notForUsers lists files whose texts appear only if the release data contains a mistake.
var notForUsers = []string{"parse.go"}

// Every error or warning text of the engine must occur in either a negative case or toldElsewhere. The test therefore
// fails for a new check that has no case.
func TestEveryCheckHasACase(t *testing.T) {
	told := allTold(t)
	texts := map[string]bool{}
	for _, dir := range checked {
		for _, text := range textsIn(t, filepath.Join(testutil.Root(), dir)) {
			texts[text] = true
			shown := pattern(text).MatchString(told)
			if reason, excused := toldElsewhere[text]; shown == excused {
				t.Errorf("%s: the text %q occurs in a case: %t; its reason in toldElsewhere is %q", dir, text, shown, reason)
			}
		}
	}
	for text := range toldElsewhere {
		if !texts[text] {
			t.Errorf("%q is no longer a text of the engine; remove it from toldElsewhere", text)
		}
	}
}

// allTold returns the messages of all cases of all offered lines.
func allTold(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	for _, line := range release.Offered() {
		match, err := release.Lookup(line)
		if err != nil {
			t.Fatal(err)
		}
		for _, n := range corpus.Negatives(match.Release) {
			lines, _, err := n.Told()
			if err != nil {
				t.Fatal(err)
			}
			b.WriteString(strings.Join(lines, "\n") + "\n")
		}
	}
	return b.String()
}

// textsIn returns the strings in a package's code that contain words. It omits strings that are not messages.
func textsIn(t *testing.T, dir string) []string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*.go"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no code in %s: %v", dir, err)
	}
	var texts []string
	for _, path := range paths {
		if strings.HasSuffix(path, "_test.go") || slices.Contains(notForUsers, filepath.Base(path)) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(node ast.Node) bool {
			if isNoMessage(node) {
				return false
			}
			if literal, ok := node.(*ast.BasicLit); ok && literal.Kind == token.STRING {
				if text, err := strconv.Unquote(literal.Value); err == nil && words.MatchString(text) {
					texts = append(texts, text)
				}
			}
			return true
		})
	}
	slices.Sort(texts)
	return slices.Compact(texts)
}

// words matches a text with at least two words. A key or the name of a field has only one word.
var words = regexp.MustCompile(`[a-z]{2,} +([a-z%(]|\S+ +[a-z])`)

// isNoMessage reports whether the strings below a node are neither errors nor warnings. Examples are imports, tags,
// patterns, panics, and the origins of values, which `render --explain` prints.
func isNoMessage(node ast.Node) bool {
	switch n := node.(type) {
	case *ast.ImportSpec, *ast.Field:
		return true
	case *ast.CompositeLit:
		return nameOf(n.Type) == "Origin"
	case *ast.CallExpr:
		return slices.Contains([]string{"panic", "Derived", "MustCompile"}, nameOf(n.Fun))
	}
	return false
}

// nameOf returns the name of a type or a function, without its package.
func nameOf(expr ast.Expr) string {
	switch e := expr.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	default:
		return ""
	}
}

var verb = regexp.MustCompile(`%[a-z]`)

// pattern returns a regular expression that matches the results of a format. The text for a verb can be empty, because
// some formats contain a verb for an optional part.
func pattern(format string) *regexp.Regexp {
	parts := verb.Split(format, -1)
	for i := range parts {
		parts[i] = regexp.QuoteMeta(strings.ReplaceAll(parts[i], "%%", "%"))
	}
	return regexp.MustCompile(strings.Join(parts, `.*`))
}
