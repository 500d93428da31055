//go:build server

package external

import (
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
	"github.com/llamastack/llama-stack-k8s-operator/test/server/realserver"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// refusedFile contains the message for each bad input. A word in capital letters replaces each part that differs
// between releases or machines.
const refusedFile = "testdata/refused.txt"

// badInput is a stack that the program rejects.
type badInput struct {
	providers []provider
	// prepare changes the volume after the images have been copied.
	prepare func(t *testing.T, v *volume)
}

// badInputs returns the cases of all test files.
func badInputs(rel *release.Release) map[string]badInput {
	all := map[string]badInput{}
	for _, cases := range []map[string]badInput{
		badMetadata(), badWheels(), badArchives(), badPackages(rel), badModules(),
		badSurroundings(),
	} {
		maps.Copy(all, cases)
	}
	return all
}

// TestRefused checks that the program rejects each bad input with the message in refusedFile. The program must not
// write the server's configuration or installed.json, and must not write a file outside the volume.
func TestRefused(t *testing.T) {
	want := readRefused(t)
	var mu sync.Mutex
	got := map[string]string{}
	t.Run("releases", func(t *testing.T) {
		eachReleaseAgain(t, func(t *testing.T, in interpreter) {
			if offered := release.Offered(); in.rel.Line != offered[len(offered)-1] && !realserver.Named() {
				t.Skip("this test runs only with the newest release and with the releases in RELEASES")
			}
			for name, bad := range badInputs(in.rel) {
				t.Run(name, func(t *testing.T) {
					t.Parallel()
					message := ""
					check := func() {
						message = in.refusal(t, bad)
						if diff := cmp.Diff(want[name], message); diff != "" && !*update {
							t.Errorf("message (-want +got):\n%s", diff)
						}
					}
					if *update {
						check()
					} else {
						realserver.NewCase(t, []string{in.rel.Version}).Once(t, &message, check)
					}
					mu.Lock()
					defer mu.Unlock()
					got[name] = message
				})
			}
		})
	})
	if *update {
		writeRefused(t, got)
	}
	for name := range want {
		if _, ok := got[name]; !ok && !*update && !t.Failed() {
			t.Errorf("%s contains %q, which is no longer a case", refusedFile, name)
		}
	}
}

// refusal runs a case and returns the program's message.
func (in interpreter) refusal(t *testing.T, bad badInput) string {
	t.Helper()
	v := in.volume(t, bad.providers...)
	outside := filepath.Join(filepath.Dir(v.dir), "outside")
	if bad.prepare != nil {
		bad.prepare(t, v)
	}
	refused, output := v.install(t)
	if refused == nil {
		t.Fatalf("the program accepts the input, with the output %q", output)
	}
	if strings.Contains(output, "Traceback") {
		t.Errorf("the program crashes:\n%s", output)
	}
	for _, path := range []string{"config", "installed.json"} {
		if _, err := os.Stat(filepath.Join(v.dir, path)); err == nil {
			t.Errorf("%s exists", path)
		}
	}
	if _, err := os.Stat(outside); err == nil {
		t.Error("the program wrote a file outside the volume")
	}
	return in.neutral(v, fmt.Sprintf("%s (%s): %s", refused.Provider, refused.Image, refused.Message))
}

var (
	platformText = regexp.MustCompile(`Python \d+\.\d+\.\d+ on \w+ \w+`)
	serverText   = regexp.MustCompile(`\b(llama-stack|ogx) \d+\.\d+\.\d+`)
	hasText      = regexp.MustCompile(`the server has \d+(\.\d+)*`)
	needsText    = regexp.MustCompile(`and \S+ \S+ of the server needs pydantic[^;]+`)
)

// neutral replaces the parts of a message that differ between releases or machines.
func (in interpreter) neutral(v *volume, text string) string {
	text = strings.ReplaceAll(text, v.dir, "DIR")
	text = platformText.ReplaceAllString(text, "PYTHON")
	text = serverText.ReplaceAllString(text, "SERVER")
	text = strings.ReplaceAll(text, " "+in.rel.Package+"==", " PACKAGE==")
	text = needsText.ReplaceAllString(text, "and ONE of the server needs pydantic RANGE")
	return hasText.ReplaceAllString(text, "the server has VERSION")
}

func readRefused(t *testing.T) map[string]string {
	t.Helper()
	text, err := os.ReadFile(refusedFile)
	if err != nil && !*update {
		t.Fatal(err)
	}
	found := map[string]string{}
	for part := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
		name, message, _ := strings.Cut(part, "\n")
		found[name] = message
	}
	return found
}

func writeRefused(t *testing.T, messages map[string]string) {
	t.Helper()
	var out strings.Builder
	for _, name := range slices.Sorted(maps.Keys(messages)) {
		fmt.Fprintf(&out, "%s\n%s\n\n", name, messages[name])
	}
	if err := os.MkdirAll(filepath.Dir(refusedFile), 0o755); err != nil {
		t.Fatal(err)
	}
	writeFile(t, refusedFile, strings.TrimSuffix(out.String(), "\n"))
}

// badMetadata returns images whose metadata file is invalid.
func badMetadata() map[string]badInput {
	file := EchoSpec().YAML()
	with := func(content string) badInput {
		return badInput{providers: []provider{from(Echo().With(SpecFile, content))}}
	}
	instead := func(old, changed string) badInput {
		if strings.Count(file, old) != 1 {
			panic("external: the metadata file has no " + old)
		}
		return with(strings.Replace(file, old, changed, 1))
	}
	missing := Echo()
	delete(missing, SpecFile)
	safety := EchoSpec()
	safety.API = "vector_io"
	return map[string]badInput{
		"metadata: no file":                            {providers: []provider{from(missing)}},
		"metadata: a link":                             {providers: []provider{from(Echo().With(SpecFile, Link("../1/"+SpecFile))), echo().second()}},
		"metadata: a broken link":                      with(Link("/does/not/exist")),
		"metadata: too large":                          with(file + strings.Repeat("#", 64<<10)),
		"metadata: not YAML":                           instead("  vendor: acme", "  vendor: [acme"),
		"metadata: not UTF-8":                          with("\xff" + file),
		"metadata: a control character":                with(file + "\x01"),
		"metadata: deep nesting":                       with(strings.Repeat("[", 30_000)),
		"metadata: empty":                              with("\n"),
		"metadata: a list":                             with("- " + SpecFile),
		"metadata: another version":                    instead("v1alpha1", "v9"),
		"metadata: another kind":                       instead("ProviderPackage", "Pod"),
		"metadata: no name":                            instead("  name: acme\n", ""),
		"metadata: empty vendor":                       instead("vendor: acme", "vendor:"),
		"metadata: no spec":                            with(strings.Split(file, "spec:")[0]),
		"metadata: no module":                          instead("acme.echo\n", "acme-echo\n"),
		"metadata: no type":                            instead("remote::acme-echo", "acme"),
		"metadata: no API":                             instead("api: inference", "api: vectorIo"),
		"metadata: a wheel outside the image's folder": instead("wheelPath: packages", "wheelPath: packages/../.."),
		"metadata: an absolute path":                   instead("wheelPath: packages", "wheelPath: /etc"),
		"metadata: wheels are not a list":              with(file + "  dependencyWheels: packages\n"),
		"metadata: a wheel is not a string":            with(file + "  dependencyWheels: [{a: b}]\n"),
		"API: another section":                         with(safety.YAML()),
		"label: another type":                          {providers: []provider{echo().labeled("remote::other", EchoModule)}},
		"label: another module":                        {providers: []provider{echo().labeled(EchoType, "acme.other")}},
	}
}

// badModules returns images with a package in which the server does not find the provider.
func badModules() map[string]badInput {
	with := func(module string, files map[string]string) badInput {
		spec := EchoSpec()
		spec.Module = module
		wheel := EchoWheel()
		wheel.Files = files
		return badInput{providers: []provider{from(New(spec, wheel, Words()))}}
	}
	source := EchoWheel().Files
	other := EchoWheel()
	other.Name, other.Files = "acme-other", map[string]string{"other/provider.py": Source("provider.py")}
	same := EchoSpec()
	same.Module, same.Wheel = "other", other.Path()
	return map[string]badInput{
		"module: an unknown package": with("acme.echos", source),
		"module: no package":         with("acme", map[string]string{"acme.py": Source("provider.py")}),
		"module: no module provider": with("acme.echo",
			map[string]string{"acme/echo/__init__.py": Source("__init__.py")}),
		"module: the name ends in provider": with("acme.echo.provider",
			map[string]string{"acme/echo/provider/__init__.py": ""}),
		"module: no get_provider_spec":      with("acme.echo", map[string]string{"acme/echo/provider.py": "get_spec = 1\n"}),
		"module: a syntax error":            with("acme.echo", map[string]string{"acme/echo/provider.py": "\nimport (\n"}),
		"module: two providers of one type": {providers: []provider{echo(), from(New(same, other, Words())).second()}},
	}
}

// badSurroundings returns stacks with a fault in the pod and not in the image.
func badSurroundings() map[string]badInput {
	return map[string]badInput{
		"pod: nothing was copied": {providers: []provider{echo()}, prepare: func(t *testing.T, v *volume) {
			if err := os.RemoveAll(filepath.Join(v.dir, "images")); err != nil {
				t.Fatal(err)
			}
		}},
		"pod: no configuration of the provider": {providers: []provider{echo()}, prepare: func(t *testing.T, v *volume) {
			writeFile(t, v.config, configuration(nil))
		}},
		"pod: no type in the configuration": {providers: []provider{echo()}, prepare: func(t *testing.T, v *volume) {
			writeFile(t, v.config, "providers:\n  inference:\n  - provider_id: echo\n")
		}},
		"pod: the configuration is not valid YAML": {providers: []provider{echo()}, prepare: func(t *testing.T, v *volume) {
			writeFile(t, v.config, "providers: [")
		}},
		"pod: a file in place of the folder": {providers: []provider{echo()}, prepare: func(t *testing.T, v *volume) {
			writeFile(t, filepath.Join(v.dir, "python-packages"), "")
		}},
	}
}
