package verdict

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// codeFiles are the files of a small module.
var codeFiles = map[string]string{
	"test/boot/boot_test.go": `//go:build server

package boot

import (
	"testing"

	"m/a"
	renamed "m/b"
	"m/pipeline"
)

func TestMain(m *testing.M) { prepare() }

func prepare() { m.Run() }

// TestOne has a comment.
func TestOne(t *testing.T) {
	use(a.Call(), limit)
	pipeline.Build().Plan.Say()
}

func use(v a.Value, n int) {
	start().wait()
	renamed.Made.Run()
}

func start() *process { return &process{} }

type process struct{ port int }

func (p *process) wait() {}
func (p *process) Close() {}
func (p *process) stop() { kill() }
func kill() {}

const (
	limit = 1
	other = 2
)

func TestTwo(t *testing.T) { a.Rest() }
`,
	"test/boot/unix_test.go":         "package boot\n\nfunc kill() {}\n",
	"test/boot/testdata/config.yaml": "port: 1",
	"test/boot/run.py":               "pass",
	"test/boot/skipped":              "1",
	"a/a.go": `package a

type Value interface{ inner }
type inner = list[int]
type list[T any] []T

func (l *list[T]) Get(i int) T { return (*l)[i] }
func Call() Value { return first + second }
func Rest() {}

type Loss struct{}

func (Loss) Say() {}

const (
	zero = iota
	first
	second
)

func init() { register() }
func register() {}

var _ = known()

func known() int { return 1 }
`,
	"a/a_test.go":  "package a\n\nfunc helper() {}\n",
	"b/b.go":       "package b\n\nimport _ \"m/c\"\n\nvar Made = kind{text}\n\ntype kind struct{ string }\n\nfunc (kind) Run() {}\n",
	"b/text.go":    "package b\n\nimport _ \"embed\"\n\nvar (\n\t//go:embed script\n\ttext string\n)\n",
	"b/script/run": "exit",
	"b/testdata/x": "golden",
	"c/c.go":       "package c\n\nfunc init() {}\n",
	"d/d.go":       "package d\n\ntype Plan struct{}\n\nfunc (Plan) Say() {}\n",
	"pipeline/pipeline.go": "package pipeline\n\nimport (\n\t\"m/a\"\n\t\"m/d\"\n)\n\n" +
		"type Built struct {\n\tPlan  a.Loss\n\tOther d.Plan\n}\n\nfunc Build() Built { return Built{} }\n",
	"data/facts": "1",
}

// TestCode shows which changes of a module's files change the digest of a test's code.
func TestCode(t *testing.T) {
	root := t.TempDir()
	put := func(path, content string) {
		t.Helper()
		path = filepath.Join(root, path)
		if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
			t.Fatal(err)
		}
		write(t, path, content)
	}
	for path, content := range codeFiles {
		put(path, content)
	}
	digest := func() string {
		t.Helper()
		code := NewCode(root, "m", func(path string) bool { return path == "pipeline" || filepath.Base(path) == "skipped" })
		found, err := code.Digest("test/boot", "TestOne")
		if err != nil {
			t.Fatal(err)
		}
		return found
	}
	before := digest()
	for name, change := range map[string]struct {
		path, old, new string
		want           bool
	}{
		"the test":                     {"test/boot/boot_test.go", "limit)", "other)", true},
		"a function":                   {"test/boot/boot_test.go", "return &process{}", "return nil", true},
		"a constant":                   {"test/boot/boot_test.go", "limit = 1", "limit = 3", true},
		"a field":                      {"test/boot/boot_test.go", "port int", "port string", true},
		"a called method":              {"test/boot/boot_test.go", "wait() {}", "wait() { panic(1) }", true},
		"an exported method":           {"test/boot/boot_test.go", "Close() {}", "Close() { panic(1) }", true},
		"the start of the tests":       {"test/boot/boot_test.go", "prepare() { m", "prepare() { *m", true},
		"the build tag":                {"test/boot/boot_test.go", "build server", "build never", true},
		"the name of an import":        {"test/boot/boot_test.go", `renamed "m/b"`, `renamed "m/c"`, true},
		"testdata":                     {"test/boot/testdata/config.yaml", "1", "2", true},
		"a program":                    {"test/boot/run.py", "pass", "exit", true},
		"a skipped file":               {"test/boot/skipped", "1", "2", false},
		"a function of a package":      {"a/a.go", "first + second", "second", true},
		"constants in order":           {"a/a.go", "zero = iota\n", "zero = iota\n\tnext\n", true},
		"a method of a generic type":   {"a/a.go", "(*l)[i]", "(*l)[0]", true},
		"what starts with a package":   {"a/a.go", "register() {}", "register() { panic(1) }", true},
		"a type from the pipeline":     {"a/a.go", "Say() {}", "Say() { panic(1) }", true},
		"a variable without a name":    {"a/a.go", "return 1", "return 2", true},
		"the type of a variable":       {"b/b.go", "Run() {}", "Run() { panic(1) }", true},
		"an embedded file":             {"b/script/run", "exit", "true", true},
		"the name of an embedded file": {"b/text.go", "embed script", "embed other", true},
		"a package's own import":       {"c/c.go", "init() {}", "init() { panic(1) }", true},
		"a comment":                    {"test/boot/boot_test.go", "has a comment", "has another comment", false},
		"the layout":                   {"test/boot/boot_test.go", "limit = 1", "limit   = 1", false},
		"another test":                 {"test/boot/boot_test.go", "a.Rest()", "kill()", false},
		"another constant":             {"test/boot/boot_test.go", "other = 2", "other = 3", false},
		"a method without a call":      {"test/boot/boot_test.go", "kill() }", "panic(1) }", false},
		"another function":             {"a/a.go", "Rest() {}", "Rest() { panic(1) }", false},
		"a test of a package":          {"a/a_test.go", "helper() {}", "helper() { panic(1) }", false},
		"testdata of a package":        {"b/testdata/x", "golden", "silver", false},
		"the pipeline":                 {"pipeline/pipeline.go", "Built{}", "Built{nil}", false},
		"a package of the pipeline":    {"d/d.go", "Say() {}", "Say() { panic(1) }", false},
		"a file elsewhere":             {"data/facts", "1", "2", false},
	} {
		t.Run(name, func(t *testing.T) {
			text := codeFiles[change.path]
			if strings.Count(text, change.old) != 1 {
				t.Fatalf("%s does not contain %q once", change.path, change.old)
			}
			put(change.path, strings.Replace(text, change.old, change.new, 1))
			if changed := digest() != before; changed != change.want {
				t.Errorf("the digest is different: %t, want %t", changed, change.want)
			}
			put(change.path, text)
		})
	}
	if digest() != before {
		t.Error("the same files have different digests")
	}
}
