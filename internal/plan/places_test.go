package plan_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/llamastack/llama-stack-k8s-operator/internal/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/retention"
	"github.com/llamastack/llama-stack-k8s-operator/internal/stackconfig/release"
)

// mark makes a stack one of v1alpha1.
func mark(in plan.Input) plan.Input {
	in.Object.Annotations = map[string]string{names.AnnotationCompat: names.CompatV1Alpha1}
	return in
}

// lost is a Loss in one line: what and where, and whether the roll-out waits.
func lost(losses []retention.Loss) []string {
	var found []string
	for _, loss := range losses {
		text := strings.Join(loss.What, ",") + " " + loss.Path
		if loss.Final {
			text += " waits"
		}
		found = append(found, text)
	}
	return found
}

// What a change of the spec leaves behind, each case from one spec to another one.
func TestLosses(t *testing.T) {
	const (
		volume = "\nworkload: {storage: {}}\n"
		redis  = "\nstorage: {kv: {type: redis, endpoint: \"redis://redis:6379\"}}\n"
		other  = "\nstorage: {kv: {type: redis, endpoint: \"redis://other:6379\"}}\n"
		kvSQL  = "\nstorage: {kv: {type: postgres, connectionString: {secretKeyRef: {name: pg, key: url}}}}\n"
		kvSQL2 = "\nstorage: {kv: {type: postgres, connectionString: {secretKeyRef: {name: pg-new, key: url}}}}\n"
		inKV   = "batches,prompts,registry,vector_io/faiss,vector_io/sqlite-vec"
		inSQL  = "conversations,files,inference,responses"
		all    = "batches,conversations,files,inference,prompts,registry,responses,vector_io/faiss,vector_io/sqlite-vec"
	)
	of := func(line, rest string) string {
		return "distribution: {name: starter, version: \"" + line + "\"}" + rest
	}
	for name, c := range map[string]struct {
		before, after string
		compat        bool
		want          []string
		message       string
	}{
		"nothing changes":               {volume, volume, false, nil, ""},
		"a model more":                  {volume, volume + "resources: {models: [a]}\nproviders: {inference: {provider: vllm, endpoint: \"http://vllm:8000\"}}", false, nil, ""},
		"an ephemeral stack":            {"disabled: [eval]", "disabled: [batches]", false, nil, ""},
		"the image's own, then a field": {volume, volume + "disabled: [eval]", false, nil, ""},
		"another Secret": {
			volume + kvSQL, volume + kvSQL2, false,
			[]string{inKV + " spec.storage.kv"},
			"stays in PostgreSQL of the Secret pg, key url, and PostgreSQL of the Secret pg-new, key url starts without it",
		},
		"storage switched off": {
			volume, "disabled: [eval]", false,
			[]string{all + " spec.workload.storage"},
			"set spec.workload.storage again to bring it back",
		},
		"storage switched on": {"disabled: [eval]", volume, false, []string{all + " spec.workload.storage"}, "is in the pod's own file system"},
		"another mountPath in a stack of v1alpha1": {
			volume, "workload: {storage: {mountPath: /data}}", true,
			[]string{
				"batches,conversations,files,inference,prompts,registry,responses,vector_io/faiss,vector_io/sqlite-vec spec.workload.storage.mountPath",
				"files spec.workload.storage.mountPath",
			},
			"set the variable SQLITE_STORE_DIR to /data/distributions/starter in spec.workload.overrides.env",
		},
		"0.7 to 0.8 in a generated stack of v1alpha1": {of("0.7", volume+"disabled: [eval]"), of("0.8", volume+"disabled: [eval]"), true, nil, ""},
		"vector_io disabled": {
			volume, volume + "disabled: [vectorIo, responses, toolRuntime, eval]", false,
			[]string{"responses spec.disabled[1]", "vector_io/faiss spec.disabled[0]", "vector_io/sqlite-vec spec.disabled[0]"},
			"take the API out of spec.disabled",
		},
		"files disabled": {
			volume, volume + "disabled: [files, responses, batches, toolRuntime, fileProcessors, eval]", false,
			[]string{"batches spec.disabled[2]", "files spec.disabled[0]", "responses spec.disabled[1]"},
			"configure it again",
		},
		"an override": {volume, "overrideConfig: {configMapName: mine}" + volume, false, []string{
			"batches spec.overrideConfig", "files spec.overrideConfig", "responses spec.overrideConfig",
			"vector_io/faiss spec.overrideConfig", "vector_io/sqlite-vec spec.overrideConfig",
		}, "nothing in the configuration reads it any more"},
		"the key-value store": {
			volume, volume + redis, false,
			[]string{inKV + " spec.storage.kv"},
			"stays in the SQLite file /.llama/distributions/starter/kvstore.db on PersistentVolumeClaim demo-pvc, and Redis at redis:6379 starts without it",
		},
		"the key-value store and back": {volume + redis, volume, false, []string{inKV + " spec.storage.kv"}, "stays in Redis at redis:6379"},
		"another Redis":                {volume + redis, volume + other, false, []string{inKV + " spec.storage.kv"}, "redis-cli --rdb"},
		"the SQL store": {
			volume, volume + "storage: {sql: {type: postgres, connectionString: {secretKeyRef: {name: pg, key: url}}}}", false,
			[]string{inSQL + " spec.storage.sql"},
			"read it through the API",
		},
		"ephemeral, then Redis": {"disabled: [eval]", "disabled: [eval]" + redis, false, []string{inKV + " spec.storage.kv"}, "goes with it, as at every roll-out"},
		"another mountPath": {
			volume, "workload: {storage: {mountPath: /data}}", false,
			[]string{"files spec.workload.storage.mountPath"},
			"name lls-storage, mountPath /.llama",
		},
		"another mountPath, and the volume there too": {
			volume, "workload: {storage: {mountPath: /data}, overrides: {volumeMounts: [{name: lls-storage, mountPath: /.llama}]}}", false,
			nil, "",
		},
		"0.7 to 0.8":                        {of("0.7", volume), of("0.8", volume), false, nil, ""},
		"0.7 to 0.8 in a stack of v1alpha1": {of("0.7", volume), of("0.8", volume), true, nil, ""},
		"0.3 to 0.4": {
			of("0.3", volume), of("0.4", volume), false,
			[]string{"vector_io/faiss spec.distribution waits"},
			"release 0.4 does not start on what vector_io/faiss keeps under release 0.3",
		},
		"0.3 to 0.7 on Redis": {
			of("0.3", redis), of("0.7", redis), false,
			[]string{"vector_io/faiss spec.distribution waits"},
			"llamastack.io/accept-data-loss: \"vector_io/faiss\"",
		},
		"0.3 to 0.4, ephemeral":    {of("0.3", ""), of("0.4", ""), false, nil, ""},
		"0.3 to 0.4 without faiss": {of("0.3", volume+"disabled: [vectorIo/faiss]"), of("0.4", volume+"disabled: [vectorIo/faiss]"), false, nil, ""},
		"0.8 to 1.0":               {of("0.8", volume), of("1.0", volume), false, []string{"batches,prompts spec.distribution"}, "another kind of store"},
		"1.0 to 0.8": {
			of("1.0", volume), of("0.8", volume), false,
			[]string{"batches,prompts spec.distribution", "interactions spec.distribution", "registry,vector_io/faiss,vector_io/sqlite-vec spec.distribution"},
			"release 1.0 finds it again",
		},
		"1.0 to 0.8 on Redis": {of("1.0", redis+volume), of("0.8", redis+volume), false, []string{"batches,prompts spec.distribution", "interactions spec.distribution"}, ""},
		"a vector provider disabled": {
			volume, volume + "disabled: [vector_io/faiss]", false,
			[]string{"vector_io/faiss spec.disabled[0]"},
			"its vector stores answer errors, to their deletion too",
		},
		"a vector provider renamed": {
			volume + "providers: {vectorIo: {id: one, provider: chromadb, endpoint: \"http://chroma:8000\"}}",
			volume + "providers: {vectorIo: {id: two, provider: chromadb, endpoint: \"http://chroma:8000\"}}", false,
			[]string{"vector_io/one spec.providers.vectorIo"},
			`the vector provider "one" is now called "two"`,
		},
		"a vector provider elsewhere": {
			volume + "providers: {vectorIo: {id: one, provider: chromadb, endpoint: \"http://chroma:8000\"}}",
			volume + "providers: {vectorIo: {id: one, provider: chromadb, endpoint: \"http://other:8000\"}}", false,
			[]string{"vector_io/one spec.providers.vectorIo"},
			"stays in http://chroma:8000, and http://other:8000 starts without it",
		},
		"a vector provider of another type": {
			volume + "providers: {vectorIo: {id: one, provider: chromadb, endpoint: \"http://chroma:8000\"}}",
			volume + "providers: {vectorIo: {id: one, provider: qdrant, endpoint: \"http://qdrant:6333\"}}", false,
			[]string{"vector_io/one spec.providers.vectorIo"},
			"is of type remote::qdrant instead of remote::chromadb",
		},
	} {
		t.Run(name, func(t *testing.T) {
			before, after := input(t, c.before), input(t, c.after)
			if c.compat {
				before, after = mark(before), mark(after)
			}
			after.Before = build(t, before).Places
			got := build(t, after).Losses
			if diff := cmp.Diff(c.want, lost(got)); diff != "" && len(c.want)+len(got) > 0 {
				t.Errorf("losses (-want +got):\n%s\n%v", diff, got)
			}
			if c.message != "" && !slices.ContainsFunc(got, func(l retention.Loss) bool { return strings.Contains(l.Message, c.message) }) {
				t.Errorf("no message has %q: %v", c.message, got)
			}
		})
	}
}

// The table of a key-value store in PostgreSQL stays the same whatever release comes; the one that a stack has been
// using is kept.
func TestTheTableStays(t *testing.T) {
	const spec = "\nstorage: {kv: {type: postgres, connectionString: {secretKeyRef: {name: pg, key: url}}}}\n"
	of := func(line string) plan.Input {
		return input(t, "distribution: {name: starter, version: \""+line+"\"}"+spec)
	}
	older := build(t, of("0.7"))
	if got := older.Places.Table(); got != "llamastack_kvstore" {
		t.Errorf("0.7 uses the table %q", got)
	}
	crossed := of("0.8")
	crossed.Before = older.Places
	if built := build(t, crossed); built.Places.Table() != "llamastack_kvstore" || len(built.Losses) > 0 {
		t.Errorf("0.8 after 0.7 uses the table %q and loses %v", built.Places.Table(), built.Losses)
	}
	since := retention.Places{
		Version: 1, Release: "0.8", Stores: map[string]retention.Store{"kv_default": {Type: "kv_postgres", At: retention.Hidden, Table: "ogx_kvstore"}},
		Data: map[string]retention.Data{retention.Registry: {In: []retention.Place{{Store: "kv_default", Space: "registry"}}}},
	}
	for _, line := range []string{"0.8", "1.5"} {
		in := of(line)
		in.Before = &since
		if built := build(t, in); built.Places.Table() != "ogx_kvstore" || len(built.Losses) > 0 {
			t.Errorf("%s on a stack that was made on 0.8 uses the table %q and loses %v", line, built.Places.Table(), built.Losses)
		}
	}
}

// A stack of v1alpha1 has no variables but those that lead to what lies on its volume.
func TestPathsOfAnOlderStack(t *testing.T) {
	moved := []string{"FILES_STORAGE_DIR=", "MILVUS_DB_PATH=", "SQLITE_STORE_DIR=", "HOME="}
	set := func(spec string) []string {
		var found []string
		for _, variable := range environment(container(t, build(t, mark(input(t, spec))))) {
			if slices.ContainsFunc(moved, func(name string) bool { return strings.HasPrefix(variable, name) }) {
				found = append(found, variable)
			}
		}
		return found
	}
	onVolume := []string{
		"FILES_STORAGE_DIR=/.llama/distributions/starter/files", "MILVUS_DB_PATH=/.llama/distributions/starter", "SQLITE_STORE_DIR=/.llama/distributions/starter",
	}
	for spec, want := range map[string][]string{
		"distribution: {name: starter, version: \"0.7\"}\nworkload: {storage: {}}":                                                   nil,
		"distribution: {name: starter, version: \"0.8\"}\nworkload: {storage: {}}":                                                   onVolume,
		"distribution: {name: starter, version: \"1.5\"}\nworkload: {storage: {}}\ndisabled: [batches]":                              onVolume,
		"distribution: {name: starter, version: \"0.8\"}":                                                                            nil,
		"distribution: {name: starter, version: \"0.8\"}\nworkload: {storage: {mountPath: /data}}":                                   nil,
		"distribution: {name: starter, version: \"0.8\"}\nworkload: {storage: {mountPath: /.ogx}}":                                   nil,
		"distribution: {name: starter, version: \"0.8\"}\nworkload: {storage: {}, overrides: {env: [{name: HOME, value: /.llama}]}}": {"HOME=/.llama"},
	} {
		if diff := cmp.Diff(want, set(spec)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", spec, diff)
		}
	}
}

// What the starter of a release leaves behind when the next one, or the one before, takes its place on the same volume.
func TestCrossings(t *testing.T) {
	const files = "agents,batches,files,inference,registry,vector_io/faiss,vector_io/sqlite-vec spec.distribution"
	want := map[string][]string{
		"0.2 to 0.3": {files},
		"0.3 to 0.2": {files},
		"0.3 to 0.4": {"vector_io/faiss spec.distribution waits"},
		"0.4 to 0.3": {"prompts spec.distribution"},
		"0.8 to 1.0": {"batches,prompts spec.distribution"},
		"1.0 to 0.8": {"batches,prompts spec.distribution", "interactions spec.distribution", "registry,vector_io/faiss,vector_io/sqlite-vec spec.distribution"},
		"1.1 to 1.0": {"messages spec.distribution"},
	}
	lines := slices.DeleteFunc(release.Lines(), func(line string) bool { return line == "0.1" })
	for i := 1; i < len(lines); i++ {
		for _, pair := range [][2]string{{lines[i-1], lines[i]}, {lines[i], lines[i-1]}} {
			before, after := input(t, starterOf(pair[0])), input(t, starterOf(pair[1]))
			after.Before = build(t, before).Places
			name := pair[0] + " to " + pair[1]
			if diff := cmp.Diff(want[name], lost(build(t, after).Losses)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", name, diff)
			}
		}
	}
}

func starterOf(line string) string {
	return "distribution: {name: starter, version: \"" + line + "\"}\nworkload: {storage: {}}"
}

// A base of another ConfigMap is what moves the data when the release stays.
func TestLossesOfAnotherBase(t *testing.T) {
	const spec = "baseConfig: {configMapName: mine}\nworkload: {storage: {}}"
	before, after := input(t, spec), input(t, spec)
	after.Base = &plan.Base{Data: []byte(strings.ReplaceAll(string(after.Base.Data), "openai_conversations", "mine"))}
	after.Before = build(t, before).Places
	if diff := cmp.Diff([]string{"conversations spec.baseConfig"}, lost(build(t, after).Losses)); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
}
