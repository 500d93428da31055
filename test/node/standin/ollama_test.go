package main

import "testing"

func TestOllama(t *testing.T) {
	p := startAs(t, ollamaName, map[string]string{"PORT": "0"}, "serve").ready(t)
	if got := p.get(t, "/v1/models")["data"]; len(got.([]any)) != 1 {
		t.Errorf("models %v", got)
	}
	for want, args := range map[int][]string{0: {"pull", "qwen2.5:0.5b"}, exitUsage: {"push"}} {
		w := world{getenv: func(string) string { return "" }, stdout: &output{}, stderr: &output{}}
		if code := runAs(t.Context(), w, ollamaName, args); code != want {
			t.Errorf("%q: exit code %d, want %d", args, code, want)
		}
	}
}
