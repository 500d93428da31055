package corpus_test

import (
	"bytes"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/corpus"
)

const (
	seed = 1
	// randomCases is the number of random cases. It is small, because the tests with the real server run many more cases.
	randomCases = 40
)

// made is a case and its outcome.
type made struct {
	corpus.Case
	outcome *corpus.Outcome
	err     error
}

var (
	madeLock sync.Mutex
	madeOf   = map[string]func() []made{}
)

// casesOf runs the cases of a release line once for all tests.
func casesOf(t *testing.T, rel *release.Release) []made {
	t.Helper()
	madeLock.Lock()
	run, ok := madeOf[rel.Line]
	if !ok {
		run = sync.OnceValue(func() []made {
			cases := corpus.Cases(rel)
			all := make([]made, len(cases))
			for i := range cases {
				all[i].Case = cases[i]
				all[i].outcome, all[i].err = cases[i].Run()
			}
			return all
		})
		madeOf[rel.Line] = run
	}
	madeLock.Unlock()
	all := run()
	for i := range all {
		if all[i].err != nil {
			t.Fatal(all[i].err)
		}
	}
	return all
}

// eachLine runs a test for every line with data, in parallel.
func eachLine(t *testing.T, test func(t *testing.T, rel *release.Release)) {
	t.Helper()
	for _, line := range release.Lines() {
		match, err := release.Lookup(line)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(line, func(t *testing.T) {
			t.Parallel()
			test(t, match.Release)
		})
	}
}

// TestCases does not use a server. It checks that each case has a unique name and the same result for the same input,
// and that checkOutcome finds no problem in the result. The operator must accept at least three quarters of the random
// cases, because otherwise the tests with these cases would not be meaningful. This does not apply to a line with
// inline storage.
func TestCases(t *testing.T) {
	eachLine(t, func(t *testing.T, rel *release.Release) {
		names := map[string]bool{}
		check := func(c *corpus.Case, first, second *corpus.Outcome) {
			if names[c.Name] {
				t.Errorf("two cases have the name %s", c.Name)
			}
			names[c.Name] = true
			if !bytes.Equal(first.Config, second.Config) || first.Refused != second.Refused {
				t.Errorf("%s: the result is different for the same input", c.Name)
			}
			checkOutcome(t, c, first)
		}
		for _, m := range casesOf(t, rel) {
			check(&m.Case, m.outcome, run(t, &m.Case))
		}
		refused := 0
		random, again := corpus.Random(rel, seed, randomCases), corpus.Random(rel, seed, randomCases)
		for i := range random {
			first := run(t, &random[i])
			check(&random[i], first, run(t, &again[i]))
			if first.Refused != "" {
				refused++
			}
		}
		if limit := randomCases / 4; refused > limit && !rel.Storage.Inline {
			t.Errorf("%d of %d random cases are rejected, want at most %d", refused, randomCases, limit)
		}
	})
}

func run(t *testing.T, c *corpus.Case) *corpus.Outcome {
	t.Helper()
	outcome, err := c.Run()
	if err != nil {
		t.Fatal(err)
	}
	return outcome
}

// checkOutcome checks that neither the configuration nor a message contains a secret, that each warning has a path and
// a message, and that the configuration passes the same checks again.
func checkOutcome(t *testing.T, c *corpus.Case, o *corpus.Outcome) {
	t.Helper()
	told := []string{string(o.Config), o.Refused}
	for _, warning := range o.Warnings {
		if (warning.Path == "" && warning.ConfigPath == "") || warning.Message == "" {
			t.Errorf("%s: a warning without a path or a text: %+v", c.Name, warning)
		}
		told = append(told, warning.String())
	}
	if text := strings.Join(told, "\n"); strings.Contains(text, corpus.Canary) {
		t.Errorf("%s: the output contains the value of a Secret:\n%s", c.Name, text)
	}
	if o.Refused != "" {
		return
	}
	if len(o.Config) == 0 {
		t.Errorf("%s: there is neither a configuration nor an error", c.Name)
		return
	}
	if errs := recheck(c, o); errs != "" {
		t.Errorf("%s: the configuration does not pass the checks with which it was generated:\n%s", c.Name, errs)
	}
}

// recheck uses a generated configuration as the base, and generates a configuration from it in the same environment,
// with an empty spec. It returns the errors.
func recheck(c *corpus.Case, o *corpus.Outcome) string {
	base, err := baseconfig.Parse(o.Config)
	if err != nil {
		return err.Error()
	}
	in := &intent.Intent{
		Name: c.Object.Name, Variables: slices.Sorted(maps.Keys(o.Env)),
		Server: intent.Server{Port: v1alpha2.DefaultPort},
	}
	_, report := stackconfig.Generate(stackconfig.Input{Intent: in, Base: base, Release: c.Release})
	return intent.Messages(report.Errors)
}

// Of the random stacks with references, the operator accepts at least a quarter, rejects at least a tenth because of a
// reference, and rejects at most a tenth for another reason.
func TestWideStacksAreMixed(t *testing.T) {
	eachLine(t, func(t *testing.T, rel *release.Release) {
		if rel.Storage.Inline {
			return
		}
		accepted, others := 0, 0
		stacks := corpus.WideStacks(rel, seed, 2*randomCases)
		for i := range stacks {
			if run(t, &stacks[i].Case).Refused == "" {
				accepted++
				continue
			}
			_, _, refused, err := stacks[i].Forced()
			if err != nil {
				t.Fatal(err)
			}
			if refused != "" {
				others++
			}
		}
		if all := len(stacks); accepted < all/4 || all-accepted-others < all/10 || others > all/10 {
			t.Errorf("%d accepted, %d rejected for other reasons, of %d", accepted, others, all)
		}
	})
}

// Every fact of a line's data occurs in the configuration of some case, except for keys that must not be set and types
// that never start. The test does not check a line with inline storage.
func TestEveryFactHasACase(t *testing.T) {
	eachLine(t, func(t *testing.T, rel *release.Release) {
		if rel.Storage.Inline {
			return
		}
		shown := map[string]bool{}
		for _, m := range casesOf(t, rel) {
			facts, err := corpus.Shown(rel, m.outcome.Config)
			if err != nil {
				t.Fatalf("%s: %v", m.Name, err)
			}
			for _, fact := range facts {
				shown[fact] = true
			}
		}
		for _, fact := range corpus.Facts(rel) {
			if !shown[fact] && !corpus.Obsolete(rel, fact) && !broken(rel, fact) {
				t.Errorf("no case contains: %s", fact)
			}
		}
	})
}

// broken reports whether a fact is about a provider type that never starts. The operator rejects such a type.
func broken(rel *release.Release, fact string) bool {
	_, at, _ := strings.Cut(fact, " ")
	at, _, _ = strings.Cut(at, " ")
	api, providerType, _ := strings.Cut(at, "/")
	kind, ok := rel.Provider(api, providerType)
	return ok && kind.Broken != ""
}

// TestRefused compares a golden file with the rejected cases and the lines for which the operator rejects them, so that
// every change is reviewed.
func TestRefused(t *testing.T) {
	refused := map[string][]string{}
	for _, line := range release.Lines() {
		match, err := release.Lookup(line)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range casesOf(t, match.Release) {
			if m.outcome.Refused != "" {
				refused[m.Name] = append(refused[m.Name], line)
			}
		}
	}
	rows := make([]string, 0, len(refused))
	for name, lines := range refused {
		rows = append(rows, name+": "+strings.Join(lines, " ")+"\n")
	}
	slices.Sort(rows)
	golden.Dir(t, "testdata/refused", map[string][]byte{"cases.txt": []byte(strings.Join(rows, ""))})
}
