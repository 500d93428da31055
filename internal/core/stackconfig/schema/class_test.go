package schema_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/schema"
)

func TestClassKey(t *testing.T) {
	class := schema.NewClass("Bedrock", schema.ExtraIgnore, []schema.Key{
		{Name: "token", Aliases: []string{"api_key", "region"}},
		{Name: "region"},
	})
	for name, want := range map[string]string{"token": "token", "api_key": "token", "region": "region", "other": ""} {
		key, ok := class.Key(name)
		if key.Name != want || ok != (want != "") {
			t.Errorf("Key(%q) = %q, %v; want %q", name, key.Name, ok, want)
		}
	}
	if diff := cmp.Diff([]string{"token", "region"}, class.Names()); diff != "" {
		t.Errorf("Names (-want +got):\n%s", diff)
	}
	var none *schema.Class
	if _, ok := none.Key("a"); ok || none.Names() != nil {
		t.Error("a class that is not described has keys")
	}
}

func TestIsPlainString(t *testing.T) {
	for text, want := range map[string]bool{
		"hello": true, "a b": true, "${env.A:=1}": true, "1.2.3": true, "kv_default": true,
		"yes": false, "On": false, "012": false, "1_000": false, "12:30": false, "2024-01-31": false, "null": false,
		"": false, "~": false, "=": false, "0o17": false, "1e5": false, ".inf": false, "true": false,
	} {
		if got := schema.IsPlainString(text); got != want {
			t.Errorf("IsPlainString(%q) = %v", text, got)
		}
	}
}

func TestHasPath(t *testing.T) {
	inner := schema.NewClass("Inner", schema.ExtraIgnore, []schema.Key{{Name: "verify", Type: &schema.Expr{Kind: schema.KindBool}}})
	nested := &schema.Expr{Kind: schema.KindClass, Class: inner}
	optional := &schema.Expr{Kind: schema.KindUnion, Args: []*schema.Expr{nested, {Kind: schema.KindNull}}}
	outer := schema.NewClass("Outer", schema.ExtraIgnore, []schema.Key{
		{Name: "tls", Type: nested}, {Name: "network", Aliases: []string{"net"}, Type: optional},
	})
	for path, want := range map[string]bool{
		"tls": true, "tls.verify": true, "network.verify": true, "net.verify": true,
		"": false, "tls.": false, "tls.x": false, "verify": false, "tls.verify.x": false,
	} {
		if got := outer.HasPath(path); got != want {
			t.Errorf("HasPath(%q) = %v", path, got)
		}
	}
}
