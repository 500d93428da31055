//go:build server

package boot

import (
	"errors"
	"flag"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

var update = flag.Bool("update", false, "rewrite testdata/failures")

// failure describes a store that the server cannot use.
type failure struct {
	name string
	file string
	// spoil makes the store unusable.
	spoil func(on *place)
}

const wrongPassword = "wr0ng-password"

var failures = []failure{
	{"postgres, wrong password", "v1alpha2-postgres.yaml", func(on *place) { on.db.password = wrongPassword }},
	{"postgres, missing database", "v1alpha2-postgres.yaml", func(on *place) { on.db.name = "nowhere" }},
	{"postgres, nobody listens", "v1alpha2-postgres.yaml", func(on *place) { on.db.port = on.closed }},
	{"redis, wrong password", "testdata/redis-sqlite.yaml", func(on *place) { on.redis.password = wrongPassword }},
	{"redis, nobody listens", "testdata/redis-sqlite.yaml", func(on *place) { on.redis.address = fmt.Sprintf("127.0.0.1:%d", on.closed) }},
}

// TestUnusableStores starts servers that cannot use their stores, and compares the exceptions in the server logs with a
// golden file, because these exceptions can explain a failed pod. If the server starts nevertheless, the golden file
// contains the word boots.
func TestUnusableStores(t *testing.T) {
	t.Parallel()
	eachRelease(t, func(t *testing.T, rel *release.Release) {
		path := filepath.Join("testdata", "failures", rel.Line+".txt")
		said := make([]string, len(failures))
		t.Run("boot", func(t *testing.T) {
			for i, tc := range failures {
				t.Run(tc.name, func(t *testing.T) {
					t.Parallel()
					tc.check(t, rel, path, &said[i])
				})
			}
		})
		var table strings.Builder
		for i, tc := range failures {
			table.WriteString(tc.row(said[i]))
		}
		golden(t, path, table.String())
	})
}

// row returns the rows of the golden file for a failure.
func (f *failure) row(said string) string { return f.name + "\n" + said + "\n" }

// check sets the parameter said to the result of boot, unless a server with the same input said before what is in the
// golden file.
func (f *failure) check(t *testing.T, rel *release.Release, path string, said *string) {
	t.Helper()
	s := readSample(t, f.file)
	on := s.planned()
	f.spoil(&on)
	s.fit(t, rel, on)
	if *update {
		*said = f.boot(t, rel)
		return
	}
	realserver.NewCase(t, []string{rel.Version}, s.input(t, rel)).Once(t, said, func() {
		*said = f.boot(t, rel)
		if want, err := os.ReadFile(path); err != nil || !strings.Contains(string(want), f.row(*said)) {
			t.Errorf("%s does not contain what the server says (%v)", path, err)
		}
	})
}

// boot starts the server, and returns its exceptions, each on its own line. If the server starts nevertheless, boot
// returns the word boots.
func (f *failure) boot(t *testing.T, rel *release.Release) string {
	t.Helper()
	s := readSample(t, f.file)
	on := s.startPlace(t, rel)
	var err error
	if on.closed, err = testutil.FreePort(); err != nil {
		t.Fatal(err)
	}
	f.spoil(&on)
	s.fit(t, rel, on)
	p := generate(t, rel, s, t.TempDir())
	_, err = startServer(t, boot{
		release: rel, config: p.config, env: append(p.env, "COLUMNS=1000"), home: p.home(t),
		client: http.DefaultClient, scheme: "http", secrets: s.secrets.values(),
	})
	if err == nil {
		return "  boots"
	}
	failed, ok := errors.AsType[*bootError](err)
	if !ok {
		t.Fatal(err)
	}
	found := exceptions(failed.log)
	if len(found) == 0 {
		t.Errorf("there is no exception in the output of the server:\n%v", err)
	}
	return "  " + strings.Join(found, "\n  ")
}

// exception matches the last line of a Python traceback, which contains the class and the message of the exception.
// Release 0.2 reports some exceptions without their class.
var exception = regexp.MustCompile(`(?m)(?:^\s*((?:[a-z_0-9]+\.)*[A-Z][A-Za-z]*(?:Error|Exception))|^.*: (Error creating app))(?:: (.*))?$`)

// These patterns match the parts of the server's output that differ from run to run.
var (
	number  = regexp.MustCompile(`\bport \d+|\bstack\d+\b`)
	padding = regexp.MustCompile(`\s+category=\S+$|\s+$`)
	// address matches an address and the text after it. The test removes both, because the log can break lines there, and
	// because the address of a database is secret.
	address = regexp.MustCompile(` \('(?:127|\(secret\)).*$| connecting to (?:127|\(secret\)).*$`)
)

// exceptions returns the exceptions in a log, in order. If the text of an exception contains the previous exception,
// the function returns only the longer text.
func exceptions(log string) []string {
	var found []string
	for _, match := range exception.FindAllStringSubmatch(log, -1) {
		line := match[1] + match[2]
		if match[3] != "" {
			line += ": " + address.ReplaceAllString(padding.ReplaceAllString(match[3], ""), " …")
		}
		line = number.ReplaceAllString(strings.ReplaceAll(line, "(secret)", "…"), "…")
		// The log contains some exceptions twice: once in a box, shortened and without the module, and once in full.
		if last := len(found) - 1; last >= 0 && strings.Contains(line, found[last]) {
			found[last] = line
		} else {
			found = append(found, line)
		}
	}
	return found
}

// golden compares a text with a file, or writes the text to the file if the flag -update is set.
func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		writeFile(t, path, got)
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run the test with -update to write the file", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}
