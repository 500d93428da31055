package baseconfig_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
)

// laughs returns a few lines with aliases of aliases, which expand to billions of values.
func laughs() string {
	var b strings.Builder
	b.WriteString("a0: &a0 [ha, ha, ha, ha, ha, ha, ha, ha, ha, ha]\n")
	for i := 1; i < 10; i++ {
		line := strings.ReplaceAll("aN: &aN [*aM, *aM, *aM, *aM, *aM, *aM, *aM, *aM, *aM, *aM]\n", "N", string(rune('0'+i)))
		b.WriteString(strings.ReplaceAll(line, "M", string(rune('0'+i-1))))
	}
	return b.String()
}

// badBases contains bases that Parse rejects, with the errors.
var badBases = map[string]struct{ base, want string }{
	"nothing":                 {"", "base config: is empty"},
	"comments":                {"# nothing\n", "base config: is empty"},
	"null":                    {"null\n", "base config: must be a mapping, got null"},
	"text":                    {"just a text", "base config: must be a mapping, got a scalar"},
	"list":                    {"- a\n", "base config: must be a mapping, got a list"},
	"not YAML":                {"a: [1, 2\nb: }", "base config: is not YAML: yaml: line 1: did not find expected ',' or ']'"},
	"tab":                     {"a:\n\tb: 1\n", "base config: is not YAML: yaml: line 2: found character that cannot start any token (line 2 is indented with a tab; YAML requires spaces)"},
	"two documents":           {"a: 1\n---\nb: 2\n", "base config: contains more than one YAML document; keep one document"},
	"invalid second document": {"a: 1\n---\nb: [\n", "base config: is not YAML: yaml: line 3: did not find expected node content"},
	"unknown alias":           {"a: *b\n", "base config: is not YAML: yaml: unknown anchor 'b' referenced"},
	"duplicate key":           {"a: 1\nb:\n  c: 1\n  c: 2\n", `base config: line 4: duplicate key "c"`},
	"two merge keys":          {"x: &x {a: 1}\nb:\n  <<: *x\n  <<: *x\n", `base config: line 4: duplicate key "<<"`},
	"a merge key with a text": {"b:\n  <<: text\n", "base config: line 2: the value of a merge key must be a mapping or a list of mappings"},
	"key that is a list":      {"? [a, b]\n: c\n", "base config: line 1: a key must be a string, got a list"},
	"a custom tag":            {"a: !mine b\n", "base config: line 1: the server does not support the tag !mine; remove the tag"},
	"python tag":              {"a: !!python/object:os.system b\n", "base config: line 1: the server does not support the tag !!python/object:os.system; remove the tag"},
	"recursive alias":         {"a: &a [*a]\n", "base config: line 1: the document is nested more than 100 levels deep; reduce the nesting"},
	"valid tab": {
		"a: |\n  b\n  \tc\nb: [\n",
		"base config: is not YAML: yaml: line 4: did not find expected node content",
	},
	"recursive merge key": {
		"a: &a\n  <<: *a\n",
		"base config: line 1: the document is nested more than 100 levels deep; reduce the nesting",
	},
	"nested too deeply": {
		strings.Repeat("[", 200) + strings.Repeat("]", 200),
		"base config: line 1: the document is nested more than 100 levels deep; reduce the nesting",
	},
	"billion laughs": {
		laughs(),
		"base config: line 1: the document has more than 100000 values after its aliases are expanded; use fewer aliases, or remove unused sections",
	},
	"many aliases of a long text": {
		"a: &a " + strings.Repeat("x", 150_000) + "\nb: [" + strings.Repeat("*a, ", 3000) + "]\n",
		"base config: line 1: the document has more than 2097152 bytes after its aliases are expanded; use fewer aliases, or remove unused sections",
	},
	"many aliases of a deep list": {
		"a: &a " + strings.Repeat("[", 90) + strings.Repeat("x, ", 300) + strings.Repeat("]", 90) + "\nb: [" +
			strings.Repeat("*a, ", 200) + "]\n",
		"base config: line 1: the document has more than 2097152 bytes after its aliases are expanded; use fewer aliases, or remove unused sections",
	},
	"many merges of a long text": {
		"a: &a {k: " + strings.Repeat("x", 150_000) + "}\nb: [" + strings.Repeat("{<<: *a}, ", 3000) + "]\n",
		"base config: line 1: the document has more than 2097152 bytes after its aliases are expanded; use fewer aliases, or remove unused sections",
	},
	"too large": {
		strings.Repeat("# padding\n", 1<<20),
		"the base configuration has 10485760 bytes, but the limit is 786432 bytes; remove comments or unused sections",
	},
	"not UTF-8":           {"a: \xff\xfe\n", "base config: is not YAML: yaml: invalid leading UTF-8 octet"},
	"a NUL byte":          {"version: 2\x00\n", "base config: is not YAML: yaml: control characters are not allowed"},
	"version 3":           {"version: 3\n", "Unsupported config.yaml version 3. Supported versions: 1, 2"},
	"version latest":      {"version: latest\n", "Unsupported config.yaml version latest. Supported versions: 1, 2"},
	"version list":        {"version: [2]\n", "base config: line 1: version must be a number, got a list"},
	"apis":                {"apis: {a: b}\n", "base config: line 1: apis must be a list, got a mapping"},
	"an API":              {"apis:\n- [a]\n", "base config: line 2: apis[0] must be a scalar, got a list"},
	"providers":           {"providers: [a]\n", "base config: line 1: providers must be a mapping, got a list"},
	"providers of an API": {"providers:\n  inference: {a: b}\n", "base config: line 2: providers.inference must be a list, got a mapping"},
	"a provider":          {"providers:\n  inference:\n  - vllm\n", "base config: line 3: providers.inference[0] must be a mapping, got a scalar"},
	"a provider's ID":     {"providers:\n  inference:\n  - provider_id: [a]\n", "base config: line 3: providers.inference[0].provider_id must be a scalar, got a list"},
	"a backend":           {"storage:\n  backends:\n    kv_default: sqlite\n", "base config: line 3: storage.backends.kv_default must be a mapping, got a scalar"},
	"resources":           {"registered_resources:\n  models:\n  - a\n", "base config: line 3: registered_resources.models[0] must be a mapping, got a scalar"},
	"server":              {"server: 8321\n", "base config: line 1: server must be a mapping, got a scalar"},
}

func TestParseErrors(t *testing.T) {
	for name, tc := range badBases {
		t.Run(name, func(t *testing.T) {
			base, err := baseconfig.Parse([]byte(tc.base))
			if err == nil || base != nil {
				t.Fatalf("accepted, want: %s", tc.want)
			}
			if err.Error() != tc.want {
				t.Errorf("got  %s\nwant %s", err, tc.want)
			}
			var unsupported *baseconfig.UnsupportedVersionError
			if errors.As(err, &unsupported) != strings.HasPrefix(tc.want, "Unsupported") {
				t.Errorf("%T", err)
			}
		})
	}
}

// TestFewNodesAreKept checks that bases with many values, which tenants can write, are not kept in memory, and that a
// usual base is.
func TestFewNodesAreKept(t *testing.T) {
	for nodes, kept := range map[int]bool{1_000: true, 30_000: false} {
		base := []byte("a: [" + strings.Repeat("b,", nodes) + "]\n")
		first, err := baseconfig.Parse(base)
		if err != nil {
			t.Fatal(err)
		}
		second, err := baseconfig.Parse(base)
		if err != nil || (first == second) != kept {
			t.Errorf("a base with %d values is kept: %t, %v", nodes, first == second, err)
		}
	}
}
