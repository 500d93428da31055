package absorb_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/profile"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/validate"
	"github.com/llamastack/llama-stack-k8s-operator/internal/migrate/absorb"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil"
)

// checkSame plans a stack with the fields in the result, and compares the generated configuration with the user's. It
// does not use the package's own comparison.
func checkSame(t testing.TB, input plan.Input, got absorb.Result, want string) {
	t.Helper()
	if (got.Spec == nil) == (len(got.Stays) == 0) {
		t.Fatalf("want either fields or reasons, got %+v", got)
	}
	if got.Spec == nil {
		return
	}
	stack := filled(t, input.Object, got)
	in, _, invalid := validate.Spec(stack)
	if len(invalid) > 0 {
		t.Fatalf("the fields are wrong: %v", invalid)
	}
	input.Object, input.Intent, input.Override = stack, in, nil
	input.Base = &plan.Base{Data: input.Distribution.Base, Source: v1alpha2.ConfigSourceEmbedded}
	built, err := plan.Build(input)
	testutil.Must(t, err)
	secrets := map[string]string{}
	for _, v := range intent.Overrides(&stack.Spec).Env {
		if v.ValueFrom != nil {
			secrets["${env."+v.Name+"}"] = fmt.Sprint("Secret ", v.ValueFrom.SecretKeyRef.Name, "/",
				v.ValueFrom.SecretKeyRef.Key)
		}
		if v.Name == names.EnvRegistry {
			secrets["${env.LLS_REGISTRY:=registry/default/demo}"] = v.Value
		}
	}
	for _, v := range built.Env {
		if strings.HasPrefix(v.Name, "LLSD_") {
			secrets["${env."+v.Name+"}"] = fmt.Sprint("Secret ", v.SecretName, "/", v.SecretKey)
		}
	}
	theirs, ours := parsed(t, want, secrets), parsed(t, string(built.Config), secrets)
	settleServer(theirs, ours, input)
	if diff := cmp.Diff(theirs, ours); diff != "" {
		t.Errorf("the server reads different configurations (-user's +fields'):\n%s", diff)
	}
}

// settleServer adds values to the user's configuration. The pod sets these values in addition to the values in the
// configuration.
func settleServer(theirs, ours config, input plan.Input) {
	if theirs["server"] == nil {
		theirs["server"] = config{}
	}
	user, told, runtime := theirs["server"].(config), input.Intent.Server, input.Distribution.Release.Runtime
	_, hasPort := user["port"]
	if told.Workers > 1 {
		user["workers"] = float64(told.Workers)
	}
	if profile.Of(input.Object.Annotations).V1alpha1 {
		user["host"] = "0.0.0.0"
	}
	if profile.Of(input.Object.Annotations).V1alpha1 || runtime.ServerPortIgnored || !hasPort && told.Port == 8321 {
		user["port"] = float64(told.Port)
	}
	if runtime.PlainHTTPRefused && user["insecure"] == nil {
		user["insecure"] = true
	}
	if ours["server"] == nil {
		ours["server"] = config{}
	}
}

// filled returns the stack with the fields in place of overrideConfig.
func filled(t testing.TB, stack *v1alpha2.LlamaStackDistribution, got absorb.Result) *v1alpha2.LlamaStackDistribution {
	t.Helper()
	stack = stack.DeepCopy()
	stack.Spec.OverrideConfig = nil
	var env []any
	if stack.Spec.Workload != nil && len(got.Env) > 0 {
		data, err := json.Marshal(intent.Overrides(&stack.Spec).Env)
		testutil.Must(t, err)
		testutil.Must(t, json.Unmarshal(data, &env))
	}
	fields := maps.Clone(got.Spec)
	if env = append(env, got.Env...); len(got.Env) > 0 {
		fields["workload"] = config{"overrides": config{"env": env}}
	}
	data, err := json.Marshal(fields)
	testutil.Must(t, err)
	testutil.Must(t, json.Unmarshal(data, &stack.Spec))
	return stack
}

// parsed returns a configuration after it removes the differences that do not affect the server: the order of APIs,
// empty lists of resources, and null values and empty metadata of resources. In the configuration, it replaces each key
// of the parameter `secrets` with the value of the key.
func parsed(t testing.TB, text string, secrets map[string]string) config {
	t.Helper()
	var c config
	testutil.Must(t, yaml.Unmarshal([]byte(text), &c))
	c = replaced(c, secrets).(config)
	if apis, ok := c["apis"].([]any); ok {
		slices.SortFunc(apis, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	}
	resources, _ := c["registered_resources"].(config)
	for kind, list := range resources {
		entries, _ := list.([]any)
		for _, entry := range entries {
			maps.DeleteFunc(entry.(config), func(key string, value any) bool {
				return value == nil || key == "metadata" && len(value.(config)) == 0
			})
		}
		if len(entries) == 0 {
			delete(resources, kind)
		}
	}
	if len(resources) == 0 {
		delete(c, "registered_resources")
	}
	return c
}

func replaced(value any, by map[string]string) any {
	switch v := value.(type) {
	case config:
		for key := range v {
			v[key] = replaced(v[key], by)
		}
	case []any:
		for i := range v {
			v[i] = replaced(v[i], by)
		}
	case string:
		if text, ok := by[v]; ok {
			return text
		}
	}
	return value
}
