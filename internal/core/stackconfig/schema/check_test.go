package schema_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

func ptr[T any](v T) *T { return &v }

// exampleClass is a provider's class with one key of every type.
func exampleClass(t testing.TB, extra schema.Extra) *schema.Class {
	t.Helper()
	classes := map[string]*schema.Class{}
	for _, name := range []string{"Example", "Network", "TLS", "KVRef", "HNSW", "Flat"} {
		classes[name] = schema.NewClass(name, schema.ExtraIgnore, nil)
	}
	parser := schema.NewParser(classes)
	key := func(name, kind string, with ...func(*schema.Key)) schema.Key {
		e, err := parser.Parse(kind)
		if err != nil {
			t.Fatal(err)
		}
		k := schema.Key{Name: name, Type: e}
		for _, set := range with {
			set(&k)
		}
		return k
	}
	required := func(k *schema.Key) { k.Required = true }
	limits := func(l schema.Limits) func(*schema.Key) { return func(k *schema.Key) { k.Limits = &l } }
	classes["TLS"].SetKeys([]schema.Key{key("verify", "bool | Path"), key("ciphers", "list[str] | null")})
	classes["Network"].SetKeys([]schema.Key{key("tls", "TLS | null"), key("headers", "dict[str, str] | null")})
	classes["KVRef"].SetKeys([]schema.Key{key("namespace", "str", required), key("backend", "str", required)})
	classes["HNSW"].SetKeys([]schema.Key{key("type", "literal[HNSW]"), key("m", "int")})
	classes["Flat"].SetKeys([]schema.Key{key("type", "literal[IVFFlat]"), key("lists", "int")})
	classes["Example"].Extra = extra
	classes["Example"].SetKeys([]schema.Key{
		key("base_url", "HttpUrl | null"),
		key("api_token", "SecretStr | null", func(k *schema.Key) {
			k.Aliases, k.Secret = []string{"auth_credential"}, true
		}),
		key("port", "int", limits(schema.Limits{AtLeast: ptr(1024.0), AtMost: ptr(65535.0)})),
		key("ratio", "float | null", limits(schema.Limits{Above: ptr(0.0), Below: ptr(1.0)})),
		key("name", "str", limits(schema.Limits{MinLength: ptr(2), MaxLength: ptr(4), Pattern: "^[a-z]+$"})),
		key("models", "list[str] | null", limits(schema.Limits{MaxLength: ptr(2)})),
		key("old", "bool", func(k *schema.Key) { k.Deprecated = true }),
		key("network", "Network | null"),
		key("index", "HNSW | Flat | null"),
		key("persistence", "KVRef", required),
		key("token", "str | null", required),
		key("stores", "dict[str, KVRef]"),
		key("either", "str | list[str] | null"),
		key("only_list", "list[int]"),
	})
	return classes["Example"]
}

func wrongType(path, want, got string) []schema.Problem {
	return []schema.Problem{{Kind: schema.WrongType, Path: path, Want: want, Got: got, Fatal: true}}
}

func outOfBounds(path, want, got string) []schema.Problem {
	return []schema.Problem{{Kind: schema.OutOfRange, Path: path, Want: want, Got: got, Fatal: true}}
}

func unknownKey(path, nearest string) []schema.Problem {
	return []schema.Problem{{Kind: schema.UnknownKey, Path: path, Nearest: nearest}}
}

// checkClassCases are the cases of TestCheckClass.
var checkClassCases = map[string]struct {
	yaml string
	want []schema.Problem
}{
	"only required keys": {yaml: ""},
	"all keys with valid values": {yaml: `
base_url: http://vllm:8000/v1
api_token: secret
port: 8321
ratio: 0.5
name: abc
models: [a, b]
network: {tls: {verify: /ca.pem, ciphers: [x]}, headers: {a: b}}
index: {type: HNSW, m: 3}
stores: {a: {namespace: a, backend: b}}
either: [a]
only_list: [1, "2"]`},
	"a key's alias":            {yaml: "auth_credential: secret"},
	"null where it is allowed": {yaml: "base_url: null\nnetwork: null\nmodels: null"},
	"references for scalars": {yaml: `
base_url: ${env.URL:=}
port: ${env.PORT}
ratio: "${env.R:=2}"
name: ${env.N}
models: ${env.M:=}
network: ${env.NET:=}
either: a${env.X}b`},
	"a reference cannot become a list": {
		yaml: "only_list: ${env.X}",
		want: wrongType("only_list", "a list", "a variable, which is always text"),
	},
	"a lowercase reference is text":     {yaml: "port: ${env.port}", want: wrongType("port", "a whole number", "text")},
	"unknown key":                       {yaml: "base_ulr: x", want: unknownKey("base_ulr", "base_url")},
	"unknown key with a common word":    {yaml: "api_key: x", want: unknownKey("api_key", "api_token")},
	"unknown key without a similar key": {yaml: "zzz: x", want: unknownKey("zzz", "")},
	"unknown nested key": {
		yaml: "network: {tls: {verfy: true}}",
		want: unknownKey("network.tls.verfy", "verify"),
	},
	"deprecated key":                 {yaml: "old: true", want: []schema.Problem{{Kind: schema.DeprecatedKey, Path: "old"}}},
	"number for a string":            {yaml: "api_token: 12345", want: wrongType("api_token", "text", "a whole number")},
	"quoted number for a string":     {yaml: `api_token: "12345"`},
	"yes is a boolean to the server": {yaml: "name: yes", want: wrongType("name", "text", "true or false")},
	"string for a URL":               {yaml: "base_url: vllm:8000", want: wrongType("base_url", "a URL that begins with http:// or https://", "text")},
	"mapping for a scalar":           {yaml: "port: {a: 1}", want: wrongType("port", "a whole number", "a mapping")},
	"scalar for a mapping":           {yaml: "network: fast", want: wrongType("network", "a mapping", "text")},
	"list for a mapping":             {yaml: "stores: [a]", want: wrongType("stores", "a mapping", "a list")},
	"wrong element":                  {yaml: "models: [a, 2]", want: wrongType("models[1]", "text", "a whole number")},
	"wrong value in a dict": {
		yaml: "network: {headers: {a: 1}}",
		want: wrongType("network.headers.a", "text", "a whole number"),
	},
	"wrong key in a dict": {
		yaml: "network: {headers: {1: a}}",
		want: wrongType("network.headers.1", "text", "a whole number"),
	},
	"missing key in a dict's class": {yaml: "stores: {x: {namespace: a}}", want: []schema.Problem{{Kind: schema.MissingKey, Path: "stores.x.backend", Want: "text", Fatal: true}}},
	"the class with the matching tag": {
		yaml: "index: {type: IVFFlat, lists: x}",
		want: wrongType("index.lists", "a whole number", "text"),
	},
	"no class with the tag": {
		yaml: "index: {type: Other}",
		want: wrongType("index.type", "one of HNSW, IVFFlat", "text"),
	},
	"neither string nor list": {
		yaml: "either: {a: 1}", want: wrongType("either", "text or a list", "a mapping"),
	},
	"wrong element in one member of a union": {yaml: "either: [[a]]", want: wrongType("either[0]", "text", "a list")},
	"too small": {
		yaml: "port: 80", want: outOfBounds("port", "at least 1024", "a whole number"),
	},
	"too large": {
		yaml: "port: 65536", want: outOfBounds("port", "at most 65535", "a whole number"),
	},
	"too large as a string": {yaml: `port: "70000"`, want: outOfBounds("port", "at most 65535", "text")},
	"true is read as 1": {
		yaml: "port: true", want: outOfBounds("port", "at least 1024", "true or false"),
	},
	"an octal number is accepted": {yaml: "port: 010"},
	"not above": {
		yaml: "ratio: 0", want: outOfBounds("ratio", "more than 0", "a whole number"),
	},
	"not below": {yaml: "ratio: 1.0", want: outOfBounds("ratio", "less than 1", "a number")},
	"too short": {
		yaml: "name: a", want: outOfBounds("name", "text of at least 2 characters", "text"),
	},
	"too long": {
		yaml: "name: abcde", want: outOfBounds("name", "text of at most 4 characters", "text"),
	},
	"pattern": {yaml: "name: aB", want: outOfBounds("name", "text that matches ^[a-z]+$", "text")},
	"too many": {
		yaml: "models: [a, b, c]", want: outOfBounds("models", "a list of at most 2 entries", "a list"),
	},
}

func TestCheckClass(t *testing.T) {
	const rest = "\npersistence: {namespace: a, backend: kv_default}\ntoken: null\n"

	class := exampleClass(t, schema.ExtraIgnore)
	for name, tt := range checkClassCases {
		t.Run(name, func(t *testing.T) {
			got := class.Check(parseYAML(t, tt.yaml+rest))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCheckMissing(t *testing.T) {
	class := exampleClass(t, schema.ExtraIgnore)
	want := []schema.Problem{
		{Kind: schema.MissingKey, Path: "persistence", Want: "a mapping", Fatal: true},
		{Kind: schema.MissingKey, Path: "token", Want: "text", Fatal: true},
	}
	for name, node := range map[string]*yaml.Node{
		"no node": nil, "null": parseYAML(t, "null"), "empty": parseYAML(t, "{}"),
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(want, class.Check(node)); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("not a mapping", func(t *testing.T) {
		want := []schema.Problem{{Kind: schema.WrongType, Want: "a mapping", Got: "a list", Fatal: true}}
		if diff := cmp.Diff(want, class.Check(parseYAML(t, "[]"))); diff != "" {
			t.Errorf("problems (-want +got):\n%s", diff)
		}
	})
}

func TestCheckExtra(t *testing.T) {
	const text = "base_urll: x\npersistence: {namespace: a, backend: b}\ntoken: null"
	for extra, want := range map[schema.Extra][]schema.Problem{
		schema.ExtraIgnore: {{Kind: schema.UnknownKey, Path: "base_urll", Nearest: "base_url"}},
		schema.ExtraForbid: {{Kind: schema.UnknownKey, Path: "base_urll", Nearest: "base_url", Fatal: true}},
		schema.ExtraAllow:  nil,
	} {
		t.Run(string(extra), func(t *testing.T) {
			got := exampleClass(t, extra).Check(parseYAML(t, text))
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("problems (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCheckConstructedNodes checks nodes with a tag and no style, as the steps of package stackconfig create them. The
// result depends on the text that the encoder writes for such nodes.
func TestCheckConstructedNodes(t *testing.T) {
	class := exampleClass(t, schema.ExtraIgnore)
	token, _ := class.Key("api_token")
	for name, tt := range map[string]struct {
		node *yaml.Node
		want int
	}{
		"a string that looks like a number is quoted": {&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "123"}, 0},
		"a word that only YAML 1.1 reads as true":     {&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "yes"}, 1},
		"the same word in quotes":                     {&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "yes", Style: yaml.DoubleQuotedStyle}, 0},
		"two lines":                                   {&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: "1\n2"}, 0},
		"an alias is not followed":                    {&yaml.Node{Kind: yaml.AliasNode, Value: "x"}, 0},
	} {
		t.Run(name, func(t *testing.T) {
			if got := token.Check(tt.node); len(got) != tt.want {
				t.Errorf("got %d problems, want %d: %v", len(got), tt.want, got)
			}
		})
	}
}

func TestMessage(t *testing.T) {
	for want, p := range map[string]schema.Problem{
		`unknown key; the server ignores it; did you mean "base_url"?`: {Kind: schema.UnknownKey, Nearest: "base_url"},
		`unknown key; the server ignores it; remove the key`:           {Kind: schema.UnknownKey},
		`unknown key; the server rejects it; remove the key`:           {Kind: schema.UnknownKey, Fatal: true},
		`required key is missing; its value must be text`:              {Kind: schema.MissingKey, Want: "text"},
		`must be a whole number, found text`:                           {Kind: schema.WrongType, Want: "a whole number", Got: "text"},
		`must be text, found a whole number; put it in quotes`:         {Kind: schema.WrongType, Want: "text", Got: "a whole number"},
		`must be one of a, b`:                                          {Kind: schema.WrongType, Want: "one of a, b", Got: "text"},
		`must be one of a, b, found a list`:                            {Kind: schema.WrongType, Want: "one of a, b", Got: "a list"},
		`must be at most 65535`:                                        {Kind: schema.OutOfRange, Want: "at most 65535"},
		`is deprecated: a later server release might not accept this key; remove the key before you upgrade to such a release`: {Kind: schema.DeprecatedKey},
	} {
		if got := p.Message(); got != want {
			t.Errorf("Message() = %q, want %q", got, want)
		}
	}
}

func FuzzCheck(f *testing.F) {
	for _, text := range []string{
		"base_url: x", "network: {tls: {verify: [1]}}", "port: 0x1F\nratio: .5", "a: &a [*a]", "index: {type: HNSW}",
		"? [complex]\n: key", "models: [${env.X}]", "only_list: !!int x",
	} {
		f.Add(text)
	}
	class := exampleClass(f, schema.ExtraIgnore)
	f.Fuzz(func(t *testing.T, text string) {
		var doc yaml.Node
		if yaml.Unmarshal([]byte(text), &doc) != nil || len(doc.Content) == 0 {
			return
		}
		for _, p := range class.Check(doc.Content[0]) {
			if p.Message() == string(p.Kind) {
				t.Errorf("a problem of kind %q has no message", p.Kind)
			}
			if p.Kind == schema.DeprecatedKey && p.Fatal || p.Kind == schema.MissingKey && !p.Fatal {
				t.Errorf("problem %+v contradicts itself", p)
			}
		}
	})
}
