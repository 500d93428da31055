package names_test

import (
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

const hash = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

// Running stacks depend on these names, so they must not change. The golden files of package render show all others.
func TestObjectNames(t *testing.T) {
	for want, got := range map[string]string{
		"my-stack-server-ca":          names.ServerCA("my-stack"),
		"my-stack-ca-bundle":          names.CABundle("my-stack"),
		"my-stack-startup":            names.Startup("my-stack"),
		"my-stack-storage":            names.StorageSecret("my-stack"),
		"my-stack-storage-01234567":   names.StorageSecretOf("my-stack", hash),
		"my-stack-config-01234567":    names.ConfigMap("my-stack", hash),
		"my-stack-base-01234567":      names.BaseConfigMap("my-stack", hash),
		"my-stack-preflight-01234567": names.Preflight("my-stack", hash),
		"my-stack-config-abc":         names.ConfigMap("my-stack", "abc"),
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// Stacks with similar or truncated names have different labels.
func TestHostLabel(t *testing.T) {
	long := strings.Repeat("a", 55)
	seen := map[string]string{}
	for _, stack := range [][2]string{
		{"a-b", "c"},
		{"a", "b-c"},
		{"a-b-c", "d"},
		{"a", "b-c-d"},
		{long, "team-ab"},
		{long, "team-abc"},
		{long + "-", "team"},
	} {
		label := names.HostLabel(stack[0], stack[1])
		if other, ok := seen[label]; ok || len(label) > 63 {
			t.Errorf("label %q of %q (%d characters) is too long, or is also the label of %q", label, stack, len(label), other)
		}
		seen[label] = stack[0] + "/" + stack[1]
	}
	if got := names.HostLabel("my-stack", "team-a"); got != "my-stack-team-a-79c3d9aa41" {
		t.Errorf("label %q: generated names must not change", got)
	}
}

// IsHostLabel recognizes the labels of all stacks, also those that do not exist, and no other labels.
func TestIsHostLabel(t *testing.T) {
	for _, stack := range [][2]string{
		{"a", "b"},
		{"a-b", "c"},
		{"chat", "victim"},
		{strings.Repeat("a", 55), "team"},
		{strings.Repeat("a", 63), "team"},
		{strings.Repeat("a", 48) + "---b", "team"},
		{"a", strings.Repeat("b-", 25) + "c"},
	} {
		if label := names.HostLabel(stack[0], stack[1]); !names.IsHostLabel(label) || len(label) > 63 {
			t.Errorf("the label %q of %q is not recognized", label, stack)
		}
	}
	for _, label := range []string{
		"", "chat", "chat-victim", "chat-victim-cc7c63dc08", "chat-victims-cc7c63dc09", "svc-deadbeef01", "-0123456789",
		"0123456789", strings.Repeat("a", 63),
	} {
		if names.IsHostLabel(label) {
			t.Errorf("%q is recognized as a generated label", label)
		}
	}
	// The end of a long name has no effect on the readable part, so a short hash would be too weak.
	label := names.HostLabel(strings.Repeat("a", 60), "team")
	if hash := label[strings.LastIndex(label, "-")+1:]; len(hash) != 20 {
		t.Errorf("label %q of a long name", label)
	}
}

func TestEnvVar(t *testing.T) {
	for _, tc := range []struct{ provider, field, want string }{
		{"vllm", names.FieldAPIKey, "LLSD_VLLM_API_KEY"},
		{"vllm-primary", names.FieldAPIKey, "LLSD_VLLM_PRIMARY_API_KEY"},
		{"pgvector", "host", "LLSD_PGVECTOR_HOST"},
		{"storage-kv", "password", "LLSD_STORAGE_KV_PASSWORD"},
		{"my.provider_1", "aws_access_key_id", "LLSD_MY_PROVIDER_1_AWS_ACCESS_KEY_ID"},
		{"vLLM", "apiKey", "LLSD_VLLM_APIKEY"},
	} {
		if got := names.EnvVar(tc.provider, tc.field); got != tc.want {
			t.Errorf("EnvVar(%q, %q) = %q, want %q", tc.provider, tc.field, got, tc.want)
		}
	}
}

func TestAllowsNamespace(t *testing.T) {
	for list, want := range map[string]bool{
		"": false, "a": true, "b": false, "b, a": true, "*": true, "b,*": true, "ab": false, ",": false,
	} {
		if got := names.AllowsNamespace(map[string]string{names.AnnotationAllowNamespaces: list}, "a"); got != want {
			t.Errorf("%q allows a: %v, want %v", list, got, want)
		}
	}
	if names.AllowsNamespace(nil, "a") || names.AllowsNamespace(map[string]string{names.AnnotationAllowNamespaces: ","}, "") {
		t.Error("a namespace is allowed without an annotation")
	}
}

func TestIsChild(t *testing.T) {
	for name, want := range map[string]bool{
		"my": true, "my-service": true, "my-httproute": true, "my-route": true, "my-backendtlspolicy": true,
		"my-config-12345678": false, "my-storage": false, "other": false, "": false,
	} {
		if got := names.IsChild("my", name); got != want {
			t.Errorf("IsChild(%q) = %v, want %v", name, got, want)
		}
	}
	if names.IsChild("", "") || names.IsChild("", "-service") {
		t.Error("an object without a stack is a child")
	}
}
