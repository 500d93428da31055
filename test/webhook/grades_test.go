package webhook

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/cli/app/definition"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/document"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/dryrun"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/findings"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/validate"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

// gradesFile has a line for each mistake: its name, its grade, the digest of the answer that was graded, and the reason
// for a grade below A. A means that the answer names the mistake and its remedy, B that it helps, and C that it helps
// little. D means that it leads astray, F that there is no word about the mistake, and - that it is not a mistake.
const gradesFile = "testdata/grades.tsv"

// worst is the maximum number of answers with each of the worse grades.
var worst = map[string]int{"C": 5, "D": 0, "F": 0}

// grade is the judgment of a person about an answer.
type grade struct{ grade, digest string }

func readGrades(t *testing.T) map[string]grade {
	t.Helper()
	data := golden.Read(t, gradesFile)
	grades, known := map[string]grade{}, regexp.MustCompile(`^[ABCDF-]$`)
	for line := range strings.Lines(string(data)) {
		fields := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		if len(fields) != 4 || !known.MatchString(fields[1]) || (fields[3] == "") != (fields[1] == "A" || fields[1] == "-") {
			t.Fatalf("%s: %q is not a name, a grade, a digest and, for a grade below A, a reason", gradesFile, line)
		}
		grades[fields[0]] = grade{fields[1], fields[2]}
	}
	return grades
}

// TestGrades checks that a person has graded the current answer to each mistake, and that few grades are bad. After a
// change to an answer, read it with kubectl llamastack validate, and write its grade and its digest to the file.
func TestGrades(t *testing.T) {
	needsCases(t)
	files, err := filepath.Glob(filepath.Join(cases, "mistakes", "*.yaml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("there are no cases: %v", err)
	}
	grades, sums := readGrades(t), map[string]int{}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		found, _ := gather(t, file)
		list := answers(found)
		one := grades[name]
		sums[one.grade]++
		if digest := digestOf(list); digest != one.digest {
			var texts []string
			for _, f := range list {
				texts = append(texts, f.Level+": "+f.Text())
			}
			t.Errorf("the answer to %s has changed; grade it, and set the digest %s:\n%s", name, digest, strings.Join(texts, "\n"))
		}
	}
	t.Logf("grades: %v", sums)
	if len(grades) != len(files) {
		t.Errorf("%d grades for %d cases", len(grades), len(files))
	}
	for grade, most := range worst {
		if sums[grade] > most {
			t.Errorf("%d answers have the grade %s, but at most %d may have it", sums[grade], grade, most)
		}
	}
}

// gather returns the objects in a file, and its documents.
func gather(t *testing.T, file string) (*dryrun.Manifests, []document.Document) {
	t.Helper()
	data := golden.Read(t, file)
	documents := document.Parse("stack.yaml", data, false)
	found := dryrun.Gather(documents, "default")
	found.Definition, found.NotesUnknown = definition.Check, true
	return found, documents
}

// digestOf returns a short digest of the errors and warnings in a list.
func digestOf(list []findings.Finding) string {
	sum := sha256.New()
	for _, f := range list {
		if f.Level != findings.Note {
			fmt.Fprintln(sum, f.Level, f.Text())
		}
	}
	return hex.EncodeToString(sum.Sum(nil))[:8]
}

// stated returns what the status says about the stacks of a file whose objects the API server accepts: the condition
// that is False, or the number of warnings.
func stated(found *dryrun.Manifests) string {
	var parts []string
	for i := range found.Stacks {
		if part := statedOf(found, &found.Stacks[i]); part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, ", ")
}

func statedOf(found *dryrun.Manifests, s *dryrun.Stack) string {
	if !s.Decoded {
		return ""
	}
	in, warnings, tolerated, errs := validate.Stored(s.Object)
	if len(errs) > 0 {
		return v1alpha2.ConditionValidationSucceeded + "=False"
	}
	for _, err := range tolerated {
		warnings = append(warnings, intent.Message(err))
	}
	input, err := found.Input(s.Object, in, nil)
	if err != nil {
		return v1alpha2.ConditionValidationSucceeded + "=False" // a reference to a missing object
	}
	built, err := plan.Build(input)
	if refused, ok := errors.AsType[*plan.ConfigError](err); ok {
		return refused.Condition + "=False"
	}
	if err != nil {
		return err.Error()
	}
	if kept := plan.Kept(plan.Warnings(warnings, built.Warnings)); len(kept) > 0 {
		return fmt.Sprintf("warnings: %d", len(kept))
	}
	return ""
}
