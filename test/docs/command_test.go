package docs

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/cli"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/test/docs/script"
)

var (
	makeTargets = regexp.MustCompile(`\bmake((?: [a-z][a-z0-9-]*)+)`)
	target      = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):`)
	verb        = regexp.MustCompile(`kubectl[ -]llamastack ([a-z]+(?:-[a-z]+)*)`)
	offline     = regexp.MustCompile(`go run \./cmd/kubectl-llamastack (.+)`)
)

func TestMakeTargetsExist(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(testutil.Root(), "hack/mk/*.mk"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files with targets, error %v", len(files), err)
	}
	known := map[string]bool{}
	for _, file := range append(files, filepath.Join(testutil.Root(), "Makefile")) {
		targets, err := os.ReadFile(file)
		testutil.Must(t, err)
		for _, match := range target.FindAllSubmatch(targets, -1) {
			known[string(match[1])] = true
		}
	}
	for _, p := range pages(t) {
		for _, code := range p.code() {
			for _, match := range makeTargets.FindAllStringSubmatch(code, -1) {
				for name := range strings.FieldsSeq(match[1]) {
					if !known[name] {
						t.Errorf("%s: the Makefile has no target %s (in %q)", p.path, name, code)
					}
				}
			}
		}
	}
}

func run(stdin string, args ...string) (code int, out, err string) {
	var stdout, stderr bytes.Buffer
	code = cli.Run(cli.Streams{In: strings.NewReader(stdin), Out: &stdout, Err: &stderr}, "test", args)
	return code, stdout.String(), stderr.String()
}

func TestVerbsExist(t *testing.T) {
	for _, p := range pages(t) {
		for _, code := range p.code() {
			for _, match := range verb.FindAllStringSubmatch(code, -1) {
				if _, out, _ := run("", match[1], "--help"); !strings.Contains(out, "kubectl-llamastack "+match[1]) {
					t.Errorf("%s: the command kubectl llamastack %s does not exist", p.path, match[1])
				}
			}
		}
	}
}

// Every `go run ./cmd/kubectl-llamastack` command on a page succeeds with the arguments that the page shows.
func TestOfflineCommandsRun(t *testing.T) {
	t.Chdir(testutil.Root())
	ran := 0
	for _, p := range pages(t) {
		for _, code := range p.code() {
			if match := offline.FindStringSubmatch(code); match != nil {
				ran++
				if code, _, stderr := run("", strings.Fields(match[1])...); code != 0 {
					t.Errorf("%s: %s: exit code %d\n%s", p.path, match[1], code, stderr)
				}
			}
		}
	}
	if ran < 3 {
		t.Errorf("ran only %d commands, although the README has three", ran)
	}
}

// example is a YAML block on a page.
type example struct {
	line int
	text string
}

// examples returns the stacks on a page. If a block contains only a part of a spec, examples adds a distribution and
// the other required fields. A block that has a file name but no apiVersion is for a different program.
func (p page) examples() []example {
	var found []example
	for _, block := range script.Parse(p.text).Blocks {
		if block.Language != "yaml" || block.Invalid {
			continue
		}
		text := block.Text
		if !hasVersion.MatchString(text) {
			if block.Title != "" || block.Reason != "" {
				continue
			}
			text = "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata: {name: example}\nspec:\n" +
				"  distribution: {name: starter}\n  " + strings.ReplaceAll(strings.TrimSpace(text), "\n", "\n  ") + "\n"
		}
		if isStack.MatchString(text) {
			found = append(found, example{block.Line, text})
		}
	}
	return found
}

// Every example is a valid stack, or a part of a spec that forms a valid stack together with a distribution. Examples
// of the operator's ConfigMap have their own test.
func TestExamplesAreValid(t *testing.T) {
	checked := 0
	for _, p := range pages(t) {
		if p.path == operatorPage || p.path == metricsPage { // the examples on these pages are not stacks
			continue
		}
		for _, each := range p.examples() {
			checked++
			t.Run(fmt.Sprintf("%s/%d", p.path, each.line), func(t *testing.T) {
				if code, _, stderr := run(each.text, "validate", "--strict", "-f", "-"); code != 0 {
					t.Errorf("exit code %d\n%s\n%s", code, stderr, each.text)
				}
			})
		}
	}
	if checked < 5 {
		t.Errorf("found only %d examples", checked)
	}
}
