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
)

var (
	makeTargets = regexp.MustCompile(`\bmake((?: [a-z][a-z0-9-]*)+)`)
	target      = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):`)
	verb        = regexp.MustCompile(`kubectl[ -]llamastack ([a-z]+(?:-[a-z]+)*)`)
	offline     = regexp.MustCompile(`go run \./cmd/kubectl-llamastack (.+)`)
)

func TestMakeTargetsExist(t *testing.T) {
	makefile, err := os.ReadFile(filepath.Join(testutil.Root(), "Makefile"))
	if err != nil {
		t.Fatal(err)
	}
	known := map[string]bool{}
	for _, match := range target.FindAllSubmatch(makefile, -1) {
		known[string(match[1])] = true
	}
	for _, p := range pages(t) {
		for _, code := range p.code() {
			for _, match := range makeTargets.FindAllStringSubmatch(code, -1) {
				for name := range strings.FieldsSeq(match[1]) {
					if !known[name] {
						t.Errorf("%s: there is no make %s (in %q)", p.path, name, code)
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
					t.Errorf("%s: there is no kubectl llamastack %s", p.path, match[1])
				}
			}
		}
	}
}

// The commands that need no cluster work as they are on the page.
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
		t.Errorf("ran %d commands, and the README alone has three", ran)
	}
}

// An example is an object, or a part of a spec that makes one with a distribution. Examples of the operator's ConfigMap
// have their own test.
func TestExamplesAreValid(t *testing.T) {
	checked := 0
	for _, p := range pages(t) {
		if p.path == operatorPage || p.path == metricsPage { // their examples are not stacks
			continue
		}
		for i, example := range p.fenced("yaml") {
			if !strings.Contains("\n"+example, "\napiVersion:") {
				example = "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata: {name: example}\nspec:\n" +
					"  distribution: {name: starter}\n  " + strings.ReplaceAll(strings.TrimSpace(example), "\n", "\n  ") + "\n"
			}
			checked++
			t.Run(fmt.Sprintf("%s/%d", p.path, i+1), func(t *testing.T) {
				if code, _, stderr := run(example, "validate", "--strict", "-f", "-"); code != 0 {
					t.Errorf("exit code %d\n%s\n%s", code, stderr, example)
				}
			})
		}
	}
	if checked < 5 {
		t.Errorf("found %d examples only", checked)
	}
}
