package absorb_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/absorb"
)

// edits are typical changes that users make to the configuration of a distribution.
var edits = []func(*rand.Rand, config){
	func(r *rand.Rand, c config) { // This edit removes providers.
		api := anyKey(r, in(c, "providers"))
		list := in(c, "providers")[api].([]any)
		in(c, "providers")[api] = slices.DeleteFunc(list, func(any) bool { return r.IntN(2) == 0 })
	},
	func(r *rand.Rand, c config) { // This edit removes an API.
		api := anyKey(r, in(c, "providers"))
		delete(in(c, "providers"), api)
		c["apis"] = slices.DeleteFunc(c["apis"].([]any), func(a any) bool { return a == any(api) })
	},
	func(_ *rand.Rand, c config) {
		add(c, "inference", provider("mine", "remote::vllm",
			config{"base_url": "http://mine/v1", "api_token": "${env.TOKEN}", "tls_verify": false}))
	},
	func(_ *rand.Rand, c config) {
		add(c, "inference", provider("another", "remote::openai",
			config{"base_url": "http://another", "api_key": "${env.KEY:=}"}))
	},
	func(r *rand.Rand, c config) { // This edit changes a value of a provider.
		for _, p := range in(c, "providers")[anyKey(r, in(c, "providers"))].([]any) {
			if cfg, ok := p.(config)["config"].(config); ok && len(cfg) > 0 {
				cfg[anyKey(r, cfg)] = scalar(r)
			}
		}
	},
	func(r *rand.Rand, c config) { // This edit removes or changes a section.
		section, ok := c[anyKey(r, c)].(config)
		if ok && len(section) > 0 {
			section[anyKey(r, section)] = scalar(r)
		}
	},
	func(r *rand.Rand, c config) { delete(c, anyKey(r, c)) },
	func(_ *rand.Rand, c config) {
		c["registered_resources"] = config{"models": []any{config{
			"model_id": "m", "provider_id": "mine", "model_type": "llm",
			"metadata": config{},
		}}}
	},
}

func anyKey(r *rand.Rand, c config) string {
	keys := make([]string, 0, len(c))
	for key := range c {
		keys = append(keys, key)
	}
	if slices.Sort(keys); len(keys) == 0 {
		return "none"
	}
	return keys[r.IntN(len(keys))]
}

func scalar(r *rand.Rand) any {
	return []any{
		1, 1.5, true, "yes", "text", "${env.TOKEN}", "${env.OTHER:=1}", nil,
		[]any{},
		config{},
		"1e5",
		config{"a": []any{nil, "b"}},
	}[r.IntN(12)]
}

// The fields for an absorbed configuration result in a configuration that differs from it only in ways that do not
// affect the server. If a part of a configuration cannot be absorbed, the result has no fields.
func TestRandom(t *testing.T) {
	absorbed := 0
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 1))
		version := []string{"", "0.3", "0.5", "1.1", "1.5"}[r.IntN(5)]
		text := edited(t, base(t, "starter", version), func(c config) {
			for range 1 + r.IntN(3) {
				if _, ok := c["providers"].(config); ok && c["apis"] != nil && in(c, "providers")["inference"] != nil {
					edits[r.IntN(len(edits))](r, c)
				}
			}
		})
		spec := "distribution: {name: starter}\n"
		if version != "" {
			spec = "distribution: {name: starter, version: \"" + version + "\"}\n"
		}
		input := inputOf(t, stackOf(t, spec+token), text)
		got := absorb.Config(input)
		if checkSame(t, input, got, text); got.Spec != nil {
			absorbed++
		}
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	if absorbed < 8 {
		t.Errorf("%d of 40 were absorbed: the edits do not test both results", absorbed)
	}
	t.Logf("%d of 40 were absorbed", absorbed)
}

// FuzzConfig checks that no input causes a panic, and that the result has either fields or reasons.
func FuzzConfig(f *testing.F) {
	for _, tc := range cases {
		if tc.distribution == "starter" && tc.spec == starter {
			f.Add([]byte(edited(f, base(f, "starter", ""), tc.edit)))
		}
	}
	for _, odd := range []string{
		"", "a", "- a", "a: [", "1: 2", "providers: [a]", "providers: {inference: [a, {provider_id: [b]}]}", "apis: [[a], 1]", "server: {port: 12:30}",
		"registered_resources: {models: [a, {metadata: 1}]}", "storage: {backends: {kv_default: {type: kv_redis, host: a, port: 1}}}", "storage: [a]", "a: &a [*a]",
	} {
		f.Add([]byte(odd))
	}
	stack := stackOf(f, starter)
	f.Fuzz(func(t *testing.T, data []byte) {
		input := inputOf(t, stack, string(data))
		got := absorb.Config(input)
		if (got.Spec == nil) == (len(got.Stays) == 0) {
			t.Fatalf("want either fields or reasons, got %+v", got)
		}
		var c config
		if got.Spec != nil && yaml.Unmarshal(data, &c) == nil {
			checkSame(t, input, got, string(data))
		}
	})
}
