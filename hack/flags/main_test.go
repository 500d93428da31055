package main

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"
)

func TestTable(t *testing.T) {
	flags := pflag.NewFlagSet("x", pflag.ContinueOnError)
	flags.String("address", ":1", "address a|b")
	flags.Bool("elect", false, "use leader election")
	flags.StringSlice("names", nil, "comma-separated names (default: all)")
	want := "| option | type | default | meaning |\n|---|---|---|---|\n" +
		"| `--address` | string | `:1` | address a\\|b |\n" +
		"| `--elect` | bool | `false` | use leader election |\n" +
		"| `--names` | strings |  | comma-separated names (default: all) |\n"
	if diff := cmp.Diff(want, table(flags)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestComplete(t *testing.T) {
	for name, test := range map[string]struct{ page, want, err string }{
		"replaces the table": {
			page: "a\n" + begin + "old\n" + end + "b\n", want: "a\n" + begin + "\nTABLE\n\n" + end + "b\n",
		},
		"no begin": {page: end, err: "begin"},
		"no end":   {page: begin, err: "end"},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := complete(test.page, "TABLE\n")
			if test.err != "" {
				if err == nil || !strings.Contains(err.Error(), test.err) {
					t.Errorf("error %v, want %q", err, test.err)
				}
				return
			}
			if err != nil || got != test.want {
				t.Errorf("got %q, error %v, want %q", got, err, test.want)
			}
		})
	}
}
