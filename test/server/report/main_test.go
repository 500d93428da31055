package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const events = `# what the compiler says
{"Action":"attr","Package":"m/test/server/conformance","Test":"TestParse/0.3","Key":"parse","Value":"848 of 848"}
{"Action":"attr","Package":"m/test/server/conformance","Test":"TestParse/1.5","Key":"parse","Value":"889 of 890"}
{"Action":"attr","Package":"m/test/server/conformance","Test":"TestNegative/0.3","Key":"negative","Value":"12 of 12"}
{"Action":"attr","Package":"m/test/server/conformance","Test":"TestInitialize/0.3","Key":"initialize","Value":"8 of 8"}
{"Action":"attr","Package":"m/test/server/conformance","Test":"TestWideStacks/0.3","Key":"stacks","Value":"9 of 9"}
{"Action":"output","Package":"m/test/server/conformance","Test":"TestParse/0.3","Output":"words\n"}
{"Action":"pass","Package":"m/test/server/conformance","Test":"TestParse/0.3"}
{"Action":"pass","Package":"m/test/server/boot","Test":"TestStacksBoot/0.3.5/simple.yaml"}
{"Action":"pass","Package":"m/test/server/boot","Test":"TestStacksBoot/0.3.5/full.yaml"}
{"Action":"pass","Package":"m/test/server/boot","Test":"TestStacksBoot/0.3.5"}
{"Action":"pass","Package":"m/test/server/boot","Test":"TestAuthentication/0.3.5"}
{"Action":"fail","Package":"m/test/server/boot","Test":"TestStacksBoot/1.5.0/simple.yaml"}
{"Action":"pass","Package":"m/test/server/boot","Test":"TestStackCases"}
{"Action":"pass","Package":"m/test/server/boot"}
`

func TestTable(t *testing.T) {
	found, err := readEvents(strings.NewReader(events))
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	if err := found.print(&got); err != nil {
		t.Fatal(err)
	}
	want := `release   parse     negative   initialize   stacks   boot
0.3       848/848   12/12      8/8          9/9      3/3
1.5       889/890   -          -            -        0/1
`
	if diff := cmp.Diff(want, got.String()); diff != "" {
		t.Errorf("table (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"0.3"}, found.passed()); diff != "" {
		t.Errorf("release lines that passed every tier (-want +got):\n%s", diff)
	}
}

func TestEventsOfAnotherForm(t *testing.T) {
	for name, line := range map[string]string{
		"no JSON":    `{"Action":`,
		"no count":   `{"Action":"attr","Test":"TestParse/0.3","Key":"parse","Value":"many"}`,
		"no release": `{"Action":"attr","Test":"TestParse/other","Key":"parse","Value":"1 of 1"}`,
	} {
		if _, err := readEvents(strings.NewReader(line)); err == nil {
			t.Errorf("%s: there is no error for %s", name, line)
		}
	}
}
