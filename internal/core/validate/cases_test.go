package validate

import (
	"flag"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/casetable"
)

var update = flag.Bool("update", false, "rewrite testdata/cases with the messages of Spec")

func loadCases(t testing.TB) *casetable.Table {
	t.Helper()
	table, err := casetable.Load("testdata/cases")
	if err != nil {
		t.Fatal(err)
	}
	return table
}

// TestCases runs the table of accepted and rejected objects through Spec. test/api runs it through a real API server.
func TestCases(t *testing.T) {
	table := loadCases(t)
	for _, c := range table.Cases {
		t.Run(c.Topic+"/"+c.Name, func(t *testing.T) {
			got := messages(t, c)
			if *update {
				c.Record(casetable.Go, got)
				return
			}
			if diff := cmp.Diff(c.Go, got); diff != "" {
				t.Errorf("Spec (-want +got):\n%s", diff)
			}
			if len(c.Server) > 0 && len(got) == 0 && c.ServerOnly == "" {
				t.Errorf("the API server rejects the object, but Spec does not: %q", c.Server)
			}
		})
	}
	if *update {
		if err := table.Save(); err != nil {
			t.Fatal(err)
		}
	}
}

// messages returns the messages that Spec returns for a case. An object that does not decode cannot reach Spec.
func messages(t *testing.T, c *casetable.Case) []string {
	t.Helper()
	object, err := c.Decode()
	if err != nil {
		if c.ServerOnly == "" {
			t.Fatalf("decode: %v; set serverOnly if this is intended", err)
		}
		return nil
	}
	_, _, errs := Spec(object)
	var lines []string
	for _, err := range errs {
		lines = append(lines, intent.Message(err))
	}
	return lines
}

// TestRulesHaveCases reports the rules that no test case breaks.
func TestRulesHaveCases(t *testing.T) {
	broken := map[string]bool{}
	for _, c := range loadCases(t).Cases {
		object, err := c.Decode()
		if err != nil {
			continue
		}
		for _, r := range rules {
			broken[r.name] = broken[r.name] || len(r.find(checksOf(object))) > 0
		}
	}
	for _, r := range rules {
		if !broken[r.name] {
			t.Errorf("rule %s: no case breaks it", r.name)
		}
	}
}
