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

// checkClassCases are the cases of TestCheckClass. An empty `want` means that there is no problem.
var checkClassCases = map[string]struct{ yaml, want string }{
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
	"a reference cannot become a list":       {"only_list: ${env.X}", "only_list: must be a list, found a variable, which is always text"},
	"a lowercase reference is text":          {"port: ${env.port}", "port: must be a whole number, found text"},
	"unknown key":                            {"base_ulr: x", `warning base_ulr: unknown key; the server ignores it; did you mean "base_url"?`},
	"unknown key with a common word":         {"api_key: x", `warning api_key: unknown key; the server ignores it; did you mean "api_token"?`},
	"unknown key without a similar key":      {"zzz: x", "warning zzz: unknown key; the server ignores it; remove the key"},
	"unknown nested key":                     {"network: {tls: {verfy: true}}", `warning network.tls.verfy: unknown key; the server ignores it; did you mean "verify"?`},
	"deprecated key":                         {"old: true", "warning old: is deprecated: a later server release might not accept this key; remove the key before you upgrade to such a release"},
	"number for a string":                    {"api_token: 12345", "api_token: must be text, found a whole number; put it in quotes"},
	"quoted number for a string":             {yaml: `api_token: "12345"`},
	"yes is a boolean to the server":         {"name: yes", "name: must be text, found true or false; put it in quotes"},
	"string for a URL":                       {"base_url: vllm:8000", "base_url: must be a URL that begins with http:// or https://, found text"},
	"mapping for a scalar":                   {"port: {a: 1}", "port: must be a whole number, found a mapping"},
	"scalar for a mapping":                   {"network: fast", "network: must be a mapping, found text"},
	"list for a mapping":                     {"stores: [a]", "stores: must be a mapping, found a list"},
	"wrong element":                          {"models: [a, 2]", "models[1]: must be text, found a whole number; put it in quotes"},
	"wrong value in a dict":                  {"network: {headers: {a: 1}}", "network.headers.a: must be text, found a whole number; put it in quotes"},
	"wrong key in a dict":                    {"network: {headers: {1: a}}", "network.headers.1: must be text, found a whole number; put it in quotes"},
	"missing key in a dict's class":          {"stores: {x: {namespace: a}}", "stores.x.backend: required key is missing; its value must be text"},
	"the class with the matching tag":        {"index: {type: IVFFlat, lists: x}", "index.lists: must be a whole number, found text"},
	"no class with the tag":                  {"index: {type: Other}", "index.type: must be one of HNSW, IVFFlat"},
	"neither string nor list":                {"either: {a: 1}", "either: must be text or a list, found a mapping"},
	"wrong element in one member of a union": {"either: [[a]]", "either[0]: must be text, found a list"},
	"too small":                              {"port: 80", "port: must be at least 1024"},
	"too large":                              {"port: 65536", "port: must be at most 65535"},
	"too large as a string":                  {`port: "70000"`, "port: must be at most 65535"},
	"true is read as 1":                      {"port: true", "port: must be at least 1024"},
	"an octal number is accepted":            {yaml: "port: 010"},
	"not above":                              {"ratio: 0", "ratio: must be more than 0"},
	"not below":                              {"ratio: 1.0", "ratio: must be less than 1"},
	"too short":                              {"name: a", "name: must be text of at least 2 characters"},
	"too long":                               {"name: abcde", "name: must be text of at most 4 characters"},
	"pattern":                                {"name: aB", "name: must be text that matches ^[a-z]+$"},
	"too many":                               {"models: [a, b, c]", "models: must be a list of at most 2 entries"},
}

func TestCheckClass(t *testing.T) {
	class := exampleClass(t, schema.ExtraIgnore)
	for name, tt := range checkClassCases {
		t.Run(name, func(t *testing.T) {
			got := messagesOf(t, class, tt.yaml+"\npersistence: {namespace: a, backend: kv_default}\ntoken: null\n")
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
