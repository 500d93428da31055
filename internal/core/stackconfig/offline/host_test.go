package offline

import "testing"

func TestIsOutside(t *testing.T) {
	for endpoint, want := range map[string]bool{
		"http://vllm:8000":                      false,
		"http://vllm.models:8000/v1":            false,
		"http://vllm.models.svc:8000":           false,
		"http://vllm.models.svc.cluster.local.": false,
		"https://models.internal/v1":            false,
		"https://models.example.lan":            false,
		"https://box.home.arpa":                 false,
		"http://localhost:11434":                false,
		"http://127.0.0.1:8321":                 false,
		"http://0.0.0.0:7331":                   false,
		"http://10.1.2.3":                       false,
		"http://100.64.0.1":                     false,
		"http://169.254.169.254":                false,
		"http://[fd00::1]:8000":                 false,
		"http://[::1]":                          false,
		"http://[::ffff:100.64.0.1]":            false,
		"https://API.OpenAI.com/v1":             true,
		"https://example.com":                   true,
		"https://models.example.org":            true,
		"https://8.8.8.8":                       true,
		"http://[2606:4700::1]":                 true,
		"postgres.example.com:5432":             true,
		"qdrant":                                false,
		"redis:6379":                            false,
		"":                                      false,
		"/var/lib/milvus.db":                    false,
		"~/.llama/milvus.db":                    false,
		"./milvus.db":                           false,
		"http://%zz":                            false,
		"https://generativelanguage.googleapis.com:443/v1": true,
	} {
		if got := isOutside(hostOf(endpoint)); got != want {
			t.Errorf("%q: outside %t, want %t", endpoint, got, want)
		}
	}
}
