package absorb_test

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/distribution"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/baseconfig"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/validate"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/absorb"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

// stackOf returns a stack with an overrideConfig.
func stackOf(t testing.TB, spec string) *v1alpha2.LlamaStackDistribution {
	t.Helper()
	stack := &v1alpha2.LlamaStackDistribution{}
	stack.Name, stack.Namespace = "demo", "default"
	testutil.Must(t, yaml.UnmarshalStrict([]byte(spec), &stack.Spec))
	stack.Spec.OverrideConfig = &v1alpha2.OverrideConfigSource{ConfigMapName: "mine"}
	return stack
}

// inputOf returns the input for the plan of a stack with a configuration.
func inputOf(t testing.TB, stack *v1alpha2.LlamaStackDistribution, config string) plan.Input {
	t.Helper()
	in, _, invalid := validate.Spec(stack)
	if len(invalid) > 0 {
		t.Fatal(invalid)
	}
	d := stack.Spec.Distribution
	resolved, err := distribution.Resolve(d.Name, d.Image, d.Version, nil)
	testutil.Must(t, err)
	data := []byte(config)
	return plan.Input{Object: stack, Intent: in, Distribution: resolved, Override: &plan.Override{
		ConfigMapName: "mine", Key: names.ConfigFile, Data: data, Files: map[string][]byte{names.ConfigFile: data},
	}}
}

func base(t testing.TB, name, version string) string {
	t.Helper()
	resolved, err := distribution.Resolve(name, "", version, nil)
	if err != nil || resolved.Base == nil {
		t.Fatalf("distribution %s %s has no base: %v", name, version, err)
	}
	return string(resolved.Base)
}

// config is a configuration that a test edits.
type config = map[string]any

func edited(t testing.TB, text string, edit func(config)) string {
	t.Helper()
	var c config
	testutil.Must(t, yaml.Unmarshal([]byte(text), &c))
	edit(c)
	data, err := yaml.Marshal(c)
	testutil.Must(t, err)
	return string(data)
}

// in returns the value at nested keys.
func in(c config, keys ...string) config {
	for _, key := range keys {
		c = c[key].(config)
	}
	return c
}

func provider(id, kind string, cfg config) any {
	return config{"provider_id": id, "provider_type": kind, "config": cfg}
}

// keep removes all but the named providers of an API.
func keep(c config, api string, ids ...string) {
	var kept []any
	for _, p := range in(c, "providers")[api].([]any) {
		if id, _ := p.(config)["provider_id"].(string); slices.Contains(ids, id) {
			kept = append(kept, p)
		}
	}
	in(c, "providers")[api] = kept
}

func add(c config, api string, entries ...any) {
	in(c, "providers")[api] = append(in(c, "providers")[api].([]any), entries...)
}

// only keeps the named APIs, and removes all others.
func only(c config, apis ...any) {
	c["apis"] = apis
	for api := range in(c, "providers") {
		if !slices.Contains(apis, any(api)) {
			delete(in(c, "providers"), api)
		}
	}
}

const (
	starter = "distribution: {name: starter}\n"
	token   = "workload: {overrides: {env: [{name: TOKEN, valueFrom: {secretKeyRef: {name: team, key: token}}}]}}\n"
)

var cases = map[string]struct {
	distribution string
	spec         string
	edit         func(config)
}{
	"as distributed":   {"starter", starter, func(config) {}},
	"another's base":   {"postgres-demo", "distribution: {name: postgres-demo}\nworkload: {overrides: {env: [{name: INFERENCE_MODEL, value: m}, {name: VLLM_URL, value: \"http://v/v1\"}]}}", func(config) {}},
	"another's config": {"postgres-demo", starter, func(config) {}},
	"one vllm": {"starter", starter, func(c config) {
		keep(c, "inference", "sentence-transformers", "transformers")
		own := provider("vllm", "remote::vllm", config{"base_url": "http://vllm:8000/v1", "max_tokens": 4096})
		in(c, "providers")["inference"] = append([]any{own}, in(c, "providers")["inference"].([]any)...)
	}},
	"two providers of one API": {"starter", starter + token, func(c config) {
		keep(c, "inference", "sentence-transformers", "transformers")
		add(c, "inference", provider("a", "remote::vllm",
			config{"base_url": "http://a:8000/v1", "api_token": "${env.TOKEN}"}),
			provider("b", "remote::openai", config{"base_url": "http://b:8000/v2", "api_key": "${env.TOKEN:=}"}))
	}},
	"another order": {"starter", starter, func(c config) {
		keep(c, "inference", "openai", "sentence-transformers", "transformers")
		slices.Reverse(in(c, "providers")["inference"].([]any))
	}},
	"pgvector": {"starter", starter + token, func(c config) {
		in(c, "providers")["vector_io"] = []any{provider("pgvector", "remote::pgvector", config{
			"host": "pg", "port": 5432, "db": "vectors", "user": "llama", "password": "${env.TOKEN}",
			"persistence": config{"namespace": "v", "backend": "kv_default"},
		})}
		in(c, "vector_stores")["default_provider_id"] = "pgvector"
	}},
	"redis": {"starter", starter, func(c config) {
		in(c, "storage", "backends")["kv_default"] = config{"type": "kv_redis", "host": "redis", "port": 6379}
	}},
	"PostgreSQL connection in parts": {"starter", starter, func(c config) {
		in(c, "storage", "backends")["sql_default"] = config{
			"type": "sql_postgres", "host": "pg", "port": 5432, "db": "a",
			"user": "b", "password": "${env.PW:=}",
		}
	}},
	"another file": {"starter", starter, func(c config) {
		in(c, "storage", "backends", "kv_default")["db_path"] = "/data/kv.db"
	}},
	"models and shields": {"starter", starter, func(c config) {
		in(c, "registered_resources")["models"] = []any{
			config{
				"metadata": config{}, "model_id": "llama", "provider_id": "openai", "provider_model_id": "x/llama",
				"model_type": "llm",
			},
			config{
				"metadata": config{"embedding_dimension": 384, "context_length": 512}, "model_id": "emb",
				"provider_id": "sentence-transformers", "provider_model_id": nil, "model_type": "embedding",
			},
		}
		resources := in(c, "registered_resources")
		resources["shields"] = append(resources["shields"].([]any),
			config{
				"shield_id": "guard", "provider_id": "llama-guard", "provider_shield_id": "openai/guard",
				"params": config{"a": 1},
			})
		c["safety"] = config{"default_shield_id": "guard"}
	}},
	"a dataset": {"starter", starter, func(c config) {
		in(c, "registered_resources")["benchmarks"] = []any{config{
			"benchmark_id": "b", "dataset_id": "d",
			"scoring_functions": []any{},
		}}
	}},
	"settings": {"starter", starter, func(c config) {
		delete(c, "vector_stores")
		in(c, "server")["auth"] = config{"provider_config": config{
			"type": "oauth2_token",
			"jwks": config{"uri": "https://keys"},
		}}
		in(c, "storage", "stores", "inference")["num_writers"] = 8
	}},
	"few APIs": {"starter", starter, func(c config) {
		only(c, "inference", "vector_io", "files")
		keep(c, "inference", "sentence-transformers")
		keep(c, "vector_io", "faiss")
		for _, section := range []string{"registered_resources", "vector_stores", "safety"} {
			delete(c, section)
		}
	}},
	"minimal": {"starter", starter, func(c config) {
		for key := range c {
			if key != "version" {
				delete(c, key)
			}
		}
		c["image_name"], c["apis"] = "mine", []any{"inference"}
		c["providers"] = config{"inference": []any{provider("vllm", "remote::vllm",
			config{"base_url": "http://vllm:8000/v1"})}}
	}},
	"unknown keys": {"starter", starter, func(c config) {
		c["odd"], c["providers"].(config)["odd"] = config{"a": 1}, []any{provider("x", "remote::x", nil)}
	}},
	"a null": {"starter", starter, func(c config) {
		in(c, "server")["tls_certfile"],
			in(c, "server")["quota"] = nil, nil
	}},
	"a different port": {"starter", starter, func(c config) { in(c, "server")["port"] = 9000 }},
	"a variable that is never set": {"starter", starter, func(c config) {
		add(c, "inference", provider("a", "remote::vllm", config{"base_url": "${env.MINE}"}))
	}},
	"of v1alpha1": {"starter", starter + "networking: {port: 9000}\nworkload: {workers: 2}\n", func(c config) {
		in(c, "server")["host"], in(c, "server")["port"] = "::1", 8000
	}},
	"of v1alpha1 and 1.5": {"starter", "distribution: {name: starter, version: \"1.5\"}\n", func(config) {}},
	"a host":              {"starter", starter, func(c config) { in(c, "server")["host"] = "0.0.0.0" }},
	"workers":             {"starter", starter + "workload: {workers: 2}\n", func(config) {}},
	"clear text": {"starter", starter, func(c config) {
		add(c, "inference", provider("a", "remote::vllm", config{"base_url": "http://a/v1", "api_token": "hidden-1"}),
			provider("b", "remote::vllm", config{"base_url": "http://me:hidden-2@a/v1", "api_token": "${env.T:=hidden-3}"}))
	}},
	"a credential in clear text in settings": {"starter", starter, func(c config) {
		in(c, "server")["auth"] = config{
			"client_secret": "hidden-4",
			"nested":        []any{config{"Authorization": "Bearer hidden-5"}},
		}
	}},
}

func TestConfig(t *testing.T) {
	for name, tc := range cases {
		t.Run(name, func(t *testing.T) {
			stack := stackOf(t, tc.spec)
			if strings.HasPrefix(name, "of v1alpha1") {
				stack.Annotations = map[string]string{names.AnnotationCompat: names.CompatV1Alpha1}
			}
			text := edited(t, base(t, tc.distribution, stack.Spec.Distribution.Version), tc.edit)
			input := inputOf(t, stack, text)
			got := absorb.Config(input)
			data, err := yaml.Marshal(got)
			testutil.Must(t, err)
			if strings.Contains(string(data), "hidden") {
				t.Errorf("the result contains a credential:\n%s", data)
			}
			dir := filepath.Join("testdata/results", strings.ReplaceAll(name, " ", "-"))
			golden.Dir(t, dir, map[string][]byte{"result.yaml": data})
			checkSame(t, input, got, text)
		})
	}
}

// A large configuration with many reasons results in a list of limited length.
func TestManyReasons(t *testing.T) {
	text := edited(t, base(t, "starter", ""), func(c config) {
		var sets []any
		for i := range 5000 {
			sets = append(sets, config{"dataset_id": fmt.Sprint("d", i)})
			c[fmt.Sprint("odd", i)] = config{"a": i}
		}
		in(c, "registered_resources")["benchmarks"] = sets
	})
	got := absorb.Config(inputOf(t, stackOf(t, starter), text))
	if len(got.Stays) != 41 || got.Stays[40].Why != "4960 more" {
		t.Errorf("got %d reasons, the last of which is %v", len(got.Stays), got.Stays[len(got.Stays)-1])
	}
	sized := absorb.Config(inputOf(t, stackOf(t, starter), text+strings.Repeat("# \n", baseconfig.MaxSize)))
	if len(sized.Stays) != 1 || !strings.Contains(sized.Stays[0].Why, "the limit is 786432 bytes") {
		t.Errorf("too large: %v", sized.Stays)
	}
}
