package cli_test

import (
	"path/filepath"
	"strings"
	"testing"
)

const (
	on03      = `{distribution: {name: starter, version: "0.3"}, workload: {storage: {}}}`
	on07      = `{distribution: {name: starter, version: "0.7"}, workload: {storage: {}}}`
	on07redis = `{distribution: {name: starter, version: "0.7"}, workload: {storage: {}}, storage: {kv: {type: redis, endpoint: "redis://redis:6379"}}}`
	waits     = `spec.distribution: release 0.7 cannot read the data that vector_io/faiss stored under release 0.3`
)

func accepting(spec, what string) string {
	return strings.Replace(stack(spec), "{name: demo}", "{name: demo, annotations: {llamastack.io/accept-data-loss: \""+what+"\"}}", 1)
}

// With --previous, validate reports the data that a change leaves behind, and the data that stops the rollout until its
// loss is accepted.
func TestValidatePrevious(t *testing.T) {
	const stays = `warning: standard input: demo: spec.storage.kv: the data of batches, prompts, registry, vector_io/faiss, vector_io/sqlite-vec stays in the SQLite file`
	for name, c := range map[string]struct {
		previous, stdin string
		args            []string
		code            int
		want            []string
		not             string
	}{
		"no data is left behind":            {stack(on07), stack(on07), nil, 0, []string{"ok: standard input: demo"}, "warning"},
		"data is left behind":               {stack(on07), stack(on07redis), nil, 0, []string{stays, "ok: standard input: demo"}, "error"},
		"data is left behind, --strict":     {stack(on07), stack(on07redis), []string{"--strict"}, 1, []string{stays, "invalid stacks: 1 of 1"}, "ok:"},
		"the rollout waits for a decision":  {stack(on03), stack(on07), nil, 1, []string{"error: standard input: demo: " + waits, "invalid stacks: 1 of 1"}, "ok:"},
		"the annotation names unknown data": {stack(on03), accepting(on07, "faiss"), nil, 1, []string{`contains "faiss", which does not name any of the lost data; set the annotation to "vector_io/faiss"`}, "ok:"},
		"the annotation accepts the loss": {
			stack(on03), accepting(on07, "vector_io/faiss"), nil, 0,
			[]string{"warning: standard input: demo: " + waits, "ok: standard input: demo"},
			"error",
		},
		"the annotation accepts the loss of data that is not lost": {
			stack(on07), accepting(on07, "vector_io/faiss"), nil, 0,
			[]string{"ok: standard input: demo"},
			"warning",
		},
		"previous stack with another name": {
			strings.Replace(stack(on03), "demo", "other", 1), stack(on07), nil, 0,
			[]string{`note: standard input: demo: --previous does not contain stack "demo" in namespace "default", so this command does not check the data of the stack`},
			"error",
		},
		"base providers only as required": {
			stack(on07), stack(`{distribution: {name: starter, version: "0.7", baseProviders: Required}, workload: {storage: {}}, ` +
				`providers: {inference: {provider: vllm, endpoint: "http://vllm:8000"}}}`), nil, 0,
			[]string{"warning: standard input: demo: spec.distribution.baseProviders: the server no longer serves vector stores", "ok: standard input: demo"},
			"error",
		},
		"wildcard in spec.disabled": {
			stack(on07), stack(`{distribution: {name: starter, version: "0.7"}, workload: {storage: {}}, disabled: [vector_io/*]}`), nil, 0,
			[]string{"warning: standard input: demo: spec.disabled[0]: the server no longer serves vector stores", "ok: standard input: demo"},
			"error",
		},
		"invalid previous stack": {
			stack(`{distribution: {name: nothing}}`), stack(on07), nil, 0,
			[]string{"warning: standard input: demo: this command cannot generate a configuration from the stack in --previous, so the command does not check the data of the stack: "},
			"error",
		},
		"no previous stack":          {"a: b", stack(on07), nil, 1, []string{"--previous: no LlamaStackDistribution in"}, "ok:"},
		"invalid YAML":               {"\tno", stack(on07), nil, 1, []string{"error: --previous: "}, "ok:"},
		"previous stack in v1alpha1": {olderWithVolume("0.7"), stack(`{distribution: {name: starter, version: "0.8"}, workload: {storage: {}}}`), nil, 0, []string{"whether both are the same is not known", "ok: standard input: demo"}, "error"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(write(t, map[string]string{"old.yaml": c.previous}), "old.yaml")
			got := run(t, c.stdin, append([]string{"validate", "-f", "-", "--previous", file}, c.args...)...)
			got.exits(t, c.code)
			contains(t, got.err, c.want...)
			if strings.Contains(got.err, c.not) {
				t.Errorf("unexpected %q in\n%s", c.not, got.err)
			}
		})
	}
}

// olderWithVolume returns a v1alpha1 stack with a volume. The manifest does not set a version, so the tag of the image
// determines the release.
func olderWithVolume(line string) string {
	return "apiVersion: llamastack.io/v1alpha1\nkind: LlamaStackDistribution\nmetadata: {name: demo}\n" +
		"spec: {server: {distribution: {image: \"docker.io/ogxai/distribution-starter:" + line + ".1\"}, storage: {}}}\n"
}

// upgrade-check reports the data that an upgrade leaves behind.
func TestUpgradeCheckReportsData(t *testing.T) {
	waiting := run(t, stack(on03), "upgrade-check", "-f", "-", "--to", "0.7")
	waiting.exits(t, 1)
	path, message, _ := strings.Cut(waits, ": ")
	contains(t, waiting.out, "demo: 0.3 to 0.7: would not start\n\nneeds action: 1\n  1. "+path+" (prevents the upgrade)\n     "+message, "data: see the actions")
	accepted := run(t, accepting(on03, "vector_io/faiss"), "upgrade-check", "-f", "-", "--to", "0.7")
	accepted.exits(t, 0, "accepted loss")
	contains(t, accepted.out, "demo: 0.3 to 0.7: starts\n", "\ndata that is left behind: 1\n")
	asJSON := run(t, stack(on07), "upgrade-check", "-f", "-", "--to", "1.0", "-o", "json")
	contains(t, asJSON.out, `"leftBehind": [`, "this release stores the data of batches, prompts in a different kind of store")
	required := run(t, stack(`{distribution: {name: starter, version: "0.7", baseProviders: Required}, workload: {storage: {}}, `+
		`disabled: [safety/*], providers: {inference: {provider: vllm, endpoint: "http://vllm:8000"}, responses: {provider: builtin}}}`),
		"upgrade-check", "-f", "-", "--to", "1.0")
	contains(t, required.out, "demo: 0.7 to 1.0: starts\n", "this release stores the data of prompts in a different kind of store")
	if strings.Contains(required.out, "data of batches") {
		t.Errorf("the output reports data that the stack does not have:\n%s", required.out)
	}
}
