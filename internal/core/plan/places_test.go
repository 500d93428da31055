package plan_test

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	corev1 "k8s.io/api/core/v1"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/retention"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/release"
)

// mark turns a stack into a v1alpha1 stack.
func mark(in plan.Input) plan.Input {
	in.Object.Annotations = map[string]string{names.AnnotationCompat: names.CompatV1Alpha1}
	return in
}

// lost returns each Loss as one line: the data, the field, and whether the rollout waits.
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

// These are parts of the test cases' specs, and the data of the starter distribution.
const (
	lossVolume = "\nworkload: {storage: {}}\n"
	lossRedis  = "\nstorage: {kv: {type: redis, endpoint: \"redis://redis:6379\"}}\n"
	lossChat   = "providers: {inference: {provider: vllm, endpoint: \"http://vllm:8000\"}}\n"
	lossInKV   = "batches,prompts,registry,vector_io/faiss,vector_io/sqlite-vec"
	lossAll    = "batches,conversations,files,inference,prompts,registry,responses,vector_io/faiss,vector_io/sqlite-vec"
)

// lossCase is a change from one spec to another, with the data that it leaves behind.
type lossCase struct {
	before, after string
	compat        bool // a v1alpha1 stack
	want          []string
	message       string
}

func (c lossCase) check(t *testing.T) {
	t.Helper()
	before, after := input(t, c.before), input(t, c.after)
	if c.compat {
		before, after = mark(before), mark(after)
	}
	after.Before = build(t, before).Places
	got := build(t, after).Losses
	if diff := cmp.Diff(c.want, lost(got)); diff != "" && len(c.want)+len(got) > 0 {
		t.Errorf("losses (-want +got):\n%s\n%v", diff, got)
	}
	if c.message != "" && !slices.ContainsFunc(got,
		func(l retention.Loss) bool { return strings.Contains(l.Message, c.message) }) {
		t.Errorf("no message has %q: %v", c.message, got)
	}
}

func checkLosses(t *testing.T, cases map[string]lossCase) {
	t.Helper()
	for name, c := range cases {
		t.Run(name, c.check)
	}
}

// TestLossesOfVolumes checks the data that is left behind by a change to the volume, and changes that move no data.
func TestLossesOfVolumes(t *testing.T) {
	checkLosses(t, map[string]lossCase{
		"nothing changes":                         {lossVolume, lossVolume, false, nil, ""},
		"one more model":                          {lossVolume, lossVolume + "resources: {models: [a]}\nproviders: {inference: {provider: vllm, endpoint: \"http://vllm:8000\"}}", false, nil, ""},
		"an ephemeral stack":                      {"disabled: [eval]", "disabled: [batches]", false, nil, ""},
		"the image's configuration, then a field": {lossVolume, lossVolume + "disabled: [eval]", false, nil, ""},
		"storage switched off": {
			lossVolume, "disabled: [eval]", false,
			[]string{lossAll + " spec.workload.storage"},
			"to recover the earlier data, set spec.workload.storage again",
		},
		"storage switched on": {"disabled: [eval]", lossVolume, false, []string{lossAll + " spec.workload.storage"}, "is in the pod's own file system"},
		"another mountPath in a stack of v1alpha1": {
			lossVolume, "workload: {storage: {mountPath: /data}}", true,
			[]string{
				"batches,conversations,files,inference,prompts,registry,responses,vector_io/faiss,vector_io/sqlite-vec spec.workload.storage.mountPath",
				"files spec.workload.storage.mountPath",
			},
			"set the variable SQLITE_STORE_DIR to /data/distributions/starter in spec.workload.overrides.env",
		},
		"another mountPath": {
			lossVolume, "workload: {storage: {mountPath: /data}}", false,
			[]string{"files spec.workload.storage.mountPath"},
			"name lls-storage, mountPath /.llama",
		},
		"another mountPath, with the volume also at the earlier path": {
			lossVolume, "workload: {storage: {mountPath: /data}, overrides: {volumeMounts: [{name: lls-storage, mountPath: /.llama}]}}", false,
			nil, "",
		},
	})
}

// TestLossesOfStores checks the data that is left behind by a change to the stores.
func TestLossesOfStores(t *testing.T) {
	const (
		other  = "\nstorage: {kv: {type: redis, endpoint: \"redis://other:6379\"}}\n"
		kvSQL  = "\nstorage: {kv: {type: postgres, connectionString: {secretKeyRef: {name: pg, key: url}}}}\n"
		kvSQL2 = "\nstorage: {kv: {type: postgres, connectionString: {secretKeyRef: {name: pg-new, key: url}}}}\n"
		inSQL  = "conversations,files,inference,responses"
	)
	checkLosses(t, map[string]lossCase{
		"another Secret": {
			lossVolume + kvSQL, lossVolume + kvSQL2, false,
			[]string{lossInKV + " spec.storage.kv"},
			"stays in PostgreSQL configured in Secret pg, key url, and is missing from PostgreSQL configured in Secret pg-new, key url",
		},
		"the key-value store": {
			lossVolume, lossVolume + lossRedis, false,
			[]string{lossInKV + " spec.storage.kv"},
			"stays in the SQLite file /.llama/distributions/starter/kvstore.db on PersistentVolumeClaim demo-pvc, and is missing from Redis at redis:6379",
		},
		"the key-value store, moved back": {lossVolume + lossRedis, lossVolume, false, []string{lossInKV + " spec.storage.kv"}, "stays in Redis at redis:6379"},
		"another Redis":                   {lossVolume + lossRedis, lossVolume + other, false, []string{lossInKV + " spec.storage.kv"}, "redis-cli --rdb"},
		"the SQL store": {
			lossVolume, lossVolume + "storage: {sql: {type: postgres, connectionString: {secretKeyRef: {name: pg, key: url}}}}", false,
			[]string{inSQL + " spec.storage.sql"},
			"read it through the API",
		},
		"the registry of another stack": {
			lossVolume + lossRedis, lossRedis + "workload: {storage: {}, overrides: {env: [{name: LLS_REGISTRY, value: registry/team-b/other}]}}", false,
			[]string{"registry spec.workload.overrides.env"},
			"but the server reads the namespace or table \"registry/team-b/other\"",
		},
		"ephemeral, then Redis": {"disabled: [eval]", "disabled: [eval]" + lossRedis, false, []string{lossInKV + " spec.storage.kv"}, "so every rollout deletes the data"},
	})
}

// TestLossesOfProviders checks the data that is left behind by a change to the providers and APIs.
func TestLossesOfProviders(t *testing.T) {
	checkLosses(t, map[string]lossCase{
		"vector_io disabled": {
			lossVolume, lossVolume + "disabled: [vectorIo, responses, toolRuntime, eval]", false,
			[]string{"responses spec.disabled[1]", "vector_io/faiss spec.disabled[0]", "vector_io/sqlite-vec spec.disabled[0]"},
			"remove vectorIo from spec.disabled",
		},
		"files disabled": {
			lossVolume, lossVolume + "disabled: [files, responses, batches, toolRuntime, fileProcessors, eval]", false,
			[]string{"batches spec.disabled[2]", "files spec.disabled[0]", "responses spec.disabled[1]"},
			"restore the previous configuration",
		},
		"an override": {lossVolume, "overrideConfig: {configMapName: mine}" + lossVolume, false, []string{
			"batches spec.overrideConfig", "files spec.overrideConfig", "responses spec.overrideConfig",
			"vector_io/faiss spec.overrideConfig", "vector_io/sqlite-vec spec.overrideConfig",
		}, "the configuration no longer uses this location"},
		"a vector provider disabled": {
			lossVolume, lossVolume + "disabled: [vector_io/faiss]", false,
			[]string{"vector_io/faiss spec.disabled[0]"},
			"requests to its vector stores fail, even requests to delete them",
		},
		"every vector provider of the base disabled": {
			lossVolume, lossVolume + "disabled: [vector_io/*, files/*, responses, batches, toolRuntime, fileProcessors, eval]", false,
			[]string{
				"batches spec.disabled[3]", "files spec.disabled[1]", "responses spec.disabled[2]",
				"vector_io/faiss spec.disabled[0]", "vector_io/sqlite-vec spec.disabled[0]",
			},
			"the server no longer serves vector stores",
		},
		"a wildcard keeps a declared provider": {
			lossVolume, lossVolume + "disabled: [vector_io/*]\nproviders: {vectorIo: {id: faiss, provider: faiss}}", false,
			[]string{"vector_io/sqlite-vec spec.disabled[0]"},
			"requests to its vector stores fail, even requests to delete them",
		},
		"only the declared providers": {
			lossVolume, lossVolume + "distribution: {name: starter, baseProviders: Required}\n" + lossChat, false,
			[]string{
				"batches spec.distribution.baseProviders", "files spec.distribution.baseProviders", "responses spec.distribution.baseProviders",
				"vector_io/faiss spec.distribution.baseProviders", "vector_io/sqlite-vec spec.distribution.baseProviders",
			},
			"the server no longer serves vector stores",
		},
		"a provider that the declared ones need": {
			lossVolume, lossVolume + "distribution: {name: starter, baseProviders: Required}\n" +
				"providers: {inference: {provider: vllm, endpoint: \"http://vllm:8000\"}, responses: {provider: builtin}}", false,
			[]string{
				"batches spec.distribution.baseProviders", "vector_io/sqlite-vec spec.distribution.baseProviders",
				"models/sentence-transformers/nomic-ai/nomic-embed-text-v1.5 spec.distribution.baseProviders waits",
			},
			"requests to its vector stores fail, even requests to delete them",
		},
		"all providers of the base, added again": {
			lossVolume + "distribution: {name: starter, baseProviders: Required}\n" + lossChat, lossVolume + lossChat, false, nil, "",
		},
		"a vector provider renamed": {
			lossVolume + "providers: {vectorIo: {id: one, provider: chromadb, endpoint: \"http://chroma:8000\"}}",
			lossVolume + "providers: {vectorIo: {id: two, provider: chromadb, endpoint: \"http://chroma:8000\"}}", false,
			[]string{"vector_io/one spec.providers.vectorIo"},
			`the vector provider "one" is now named "two"`,
		},
		"a vector provider with another endpoint": {
			lossVolume + "providers: {vectorIo: {id: one, provider: chromadb, endpoint: \"http://chroma:8000\"}}",
			lossVolume + "providers: {vectorIo: {id: one, provider: chromadb, endpoint: \"http://other:8000\"}}", false,
			[]string{"vector_io/one spec.providers.vectorIo"},
			"stays in http://chroma:8000, and is missing from http://other:8000",
		},
		"a vector provider of another type": {
			lossVolume + "providers: {vectorIo: {id: one, provider: chromadb, endpoint: \"http://chroma:8000\"}}",
			lossVolume + "providers: {vectorIo: {id: one, provider: qdrant, endpoint: \"http://qdrant:6333\"}}", false,
			[]string{"vector_io/one spec.providers.vectorIo"},
			"has type remote::qdrant instead of remote::chromadb",
		},
	})
}

// TestLossesAcrossReleases checks the data that is left behind by a change to a different release.
func TestLossesAcrossReleases(t *testing.T) {
	of := func(line, rest string) string {
		return "distribution: {name: starter, version: \"" + line + "\"}" + rest
	}
	const homeUnknown = "batches,conversations,files,inference,prompts,registry,responses,vector_io/faiss,vector_io/sqlite-vec spec.distribution"
	checkLosses(t, map[string]lossCase{
		"0.7 to 0.8 in a generated stack of v1alpha1": {
			of("0.7", lossVolume+"disabled: [eval]"), of("0.8", lossVolume+"disabled: [eval]"), true,
			[]string{homeUnknown},
			"whether both are the same is not known",
		},
		"0.7 to 0.8": {of("0.7", lossVolume), of("0.8", lossVolume), false, nil, ""},
		"0.7 to 0.8 in a stack of v1alpha1": {
			of("0.7", lossVolume), of("0.8", lossVolume), true, []string{homeUnknown}, "whether both are the same is not known",
		},
		"0.3 to 0.4": {
			of("0.3", lossVolume), of("0.4", lossVolume), false,
			[]string{"vector_io/faiss spec.distribution waits"},
			"release 0.4 cannot read the data that vector_io/faiss stored under release 0.3",
		},
		"0.3 to 0.7 on Redis": {
			of("0.3", lossRedis), of("0.7", lossRedis), false,
			[]string{"vector_io/faiss spec.distribution waits"},
			"llamastack.io/accept-data-loss: \"vector_io/faiss\"",
		},
		"0.3 to 0.4, ephemeral": {of("0.3", ""), of("0.4", ""), false, nil, ""},
		"0.3 to 0.4 without faiss": {
			of("0.3", lossVolume+"disabled: [vectorIo/faiss]"),
			of("0.4", lossVolume+"disabled: [vectorIo/faiss]"), false, nil, "",
		},
		"0.8 to 1.0": {
			of("0.8", lossVolume), of("1.0", lossVolume), false,
			[]string{"batches,prompts spec.distribution", "registry,vector_io/faiss,vector_io/sqlite-vec spec.distribution waits"},
			"set spec.storage.kv to {} in the same change",
		},
		"0.8 to 1.0 with a generated configuration": {
			of("0.8", lossVolume), of("1.0", lossVolume+"storage: {kv: {}}"), false,
			[]string{"batches,prompts spec.distribution"},
			"a different kind of store",
		},
		"1.0 to 0.8": {
			of("1.0", lossVolume), of("0.8", lossVolume), false,
			[]string{"batches,prompts spec.distribution", "interactions spec.distribution", "registry,vector_io/faiss,vector_io/sqlite-vec spec.distribution"},
			"to recover this data, return to release 1.0",
		},
		"1.0 to 0.8 on Redis": {of("1.0", lossRedis+lossVolume), of("0.8", lossRedis+lossVolume), false, []string{"batches,prompts spec.distribution", "interactions spec.distribution"}, ""},
	})
}

// The default table name of a key-value store in PostgreSQL is the same for every release. A stack that uses a table
// with a different name keeps that table.
func TestTableIsKept(t *testing.T) {
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
		Version: 1, Release: "0.8", Stores: map[string]retention.Store{"kv_default": {
			Type: "kv_postgres",
			At:   retention.Hidden, Table: "ogx_kvstore",
		}},
		Data: map[string]retention.Data{retention.Registry: {In: []retention.Place{{
			Store: "kv_default",
			Space: "registry",
		}}}},
	}
	for _, line := range []string{"0.8", "1.5"} {
		in := of(line)
		in.Before = &since
		if built := build(t, in); built.Places.Table() != "ogx_kvstore" || len(built.Losses) > 0 {
			t.Errorf("%s on a stack that was created with 0.8 uses the table %q and loses %v", line, built.Places.Table(), built.Losses)
		}
	}
}

// In release 0.8 and newer, a v1alpha1 stack with a volume has variables with the paths of its data. The operator does
// not set HOME.
func TestPathsOfAnOlderStack(t *testing.T) {
	moved := []string{"FILES_STORAGE_DIR=", "MILVUS_DB_PATH=", "SQLITE_STORE_DIR=", "OGX_CONFIG_DIR=", "HOME="}
	set := func(spec string) []string {
		var found []string
		for _, variable := range environment(container(t, build(t, mark(input(t, spec))))) {
			if slices.ContainsFunc(moved, func(name string) bool { return strings.HasPrefix(variable, name) }) {
				found = append(found, variable)
			}
		}
		return found
	}
	below := func(root string) []string {
		return []string{
			"OGX_CONFIG_DIR=" + root, "FILES_STORAGE_DIR=" + root + "/distributions/starter/files",
			"MILVUS_DB_PATH=" + root + "/distributions/starter", "SQLITE_STORE_DIR=" + root + "/distributions/starter",
		}
	}
	const v08 = "distribution: {name: starter, version: \"0.8\"}\nworkload: "
	for spec, want := range map[string][]string{
		"distribution: {name: starter, version: \"0.7\"}\nworkload: {storage: {}}": nil,
		v08 + "{storage: {}}": below("/.llama"),
		"distribution: {name: starter, version: \"1.5\"}\nworkload: {storage: {}}\ndisabled: [batches]": below("/.llama"),
		v08 + "{}": {"OGX_CONFIG_DIR=/.llama"},
		v08 + "{storage: {mountPath: /root/.llama}}":                       below("/root/.llama"),
		v08 + "{storage: {mountPath: /root/.llama/distributions/starter}}": below("/root/.llama"),
		v08 + "{storage: {mountPath: /root/.llama/distributions/other}}":   {"OGX_CONFIG_DIR=/root/.llama"},
		v08 + "{storage: {mountPath: /data}}":                              nil,
		// The server renames the directory on the volume, because the variables in the configuration are not known.
		"distribution: {image: \"example.com/mine:1.5.0\"}\nworkload: {storage: {mountPath: /data}, overrides: {env: [{name: HOME, value: /data}]}}": {"HOME=/data"},
		v08 + "{storage: {mountPath: /.ogx}}": {"OGX_CONFIG_DIR=/.ogx"},
		v08 + "{overrides: {volumes: [{name: a, hostPath: {path: /a}}], volumeMounts: [{name: a, mountPath: /a/.llama}]}}": below("/a/.llama"),
		v08 + "{overrides: {podTemplate: {spec: {volumes: [{name: a, hostPath: {path: /a}}], containers: [{name: llama-stack, " +
			"env: [{name: HOME, value: /a}], volumeMounts: [{name: a, mountPath: /a}]}]}}}}": append([]string{"HOME=/a"}, below("/a/.llama")...),
		v08 + "{storage: {}, overrides: {env: [{name: OGX_CONFIG_DIR, value: /mine}]}}": append(below("/.llama")[1:], "OGX_CONFIG_DIR=/mine"),
		v08 + "{storage: {}, overrides: {env: [{name: HOME, value: /.llama}]}}":         append(below("/.llama/.llama"), "HOME=/.llama"),
		v08 + "{storage: {}, overrides: {env: [{name: HOME, value: /tmp}]}}":            append(below("/.llama"), "HOME=/tmp"),
	} {
		if diff := cmp.Diff(want, set(spec)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", spec, diff)
		}
	}
}

// With the variables that the messages name, the server finds the data that it would otherwise leave behind: here, data
// in a directory that a server has moved on the volume.
func TestRemediesFindTheData(t *testing.T) {
	const spec = "distribution: {name: starter, version: \"1.5\"}\nworkload: {storage: {}"
	in := input(t, spec+"}")
	in.Before = plan.PlacesOf(plan.Running{
		Stack: "demo", Container: names.ServerContainer(nil), Distribution: in.Distribution, Pod: podAtHome("/.llama"),
	})
	remedy := regexp.MustCompile(`set the variable (\S+) to (\S+) in`)
	var env []string
	for _, loss := range build(t, in).Losses {
		for _, found := range remedy.FindAllStringSubmatch(loss.Message, -1) {
			env = append(env, "{name: "+found[1]+", value: "+found[2]+"}")
		}
	}
	mended := input(t, spec+", overrides: {env: ["+strings.Join(env, ", ")+"]}}")
	mended.Before = in.Before
	if losses := build(t, mended).Losses; len(env) == 0 || len(losses) > 0 {
		t.Errorf("with the variables %v, the change leaves behind %v", env, losses)
	}
}

// podAtHome returns a pod of an earlier operator, whose home directory is a volume.
func podAtHome(home string) *corev1.PodSpec {
	return &corev1.PodSpec{
		Containers: []corev1.Container{{
			Name: names.ServerContainer(nil), Env: []corev1.EnvVar{{Name: "HOME", Value: home}},
			VolumeMounts: []corev1.VolumeMount{{Name: "data", MountPath: home}},
		}},
		Volumes: []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{
			PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "demo-pvc"},
		}}},
	}
}

// If a server has moved the data directory of a v1alpha1 stack on its volume, the stack continues to use the new
// directory, in newer and in older releases.
func TestDirectoryThatMoved(t *testing.T) {
	of := func(version string) plan.Input {
		return mark(input(t, "distribution: {name: starter, version: \""+version+"\"}\nworkload: {storage: {mountPath: /data}, overrides: {env: [{name: HOME, value: /data}]}}"))
	}
	before := plan.PlacesOf(plan.Running{Stack: "demo", Container: names.ServerContainer(nil), Distribution: of("1.5").Distribution, Pod: podAtHome("/data")})
	for _, version := range []string{"1.5", "0.8", "0.7"} {
		in := of(version)
		in.Before = before
		built := build(t, in)
		for _, loss := range built.Losses {
			if slices.Contains(loss.What, "files") {
				t.Errorf("%s: %s", version, loss)
			}
		}
		if env := environment(container(t, built)); version != "0.7" && !slices.Contains(env, "OGX_CONFIG_DIR=/data/.ogx") {
			t.Errorf("%s: environment %v", version, env)
		}
		if !built.Places.Uses("/data/.ogx") || built.Places.Uses("/data/.llama") {
			t.Errorf("%s: places %v", version, built.Places)
		}
		before = built.Places
	}
}

// A server that moves files, and a server whose release is unknown, has the variable that prevents the move.
func TestServerMovesNoFiles(t *testing.T) {
	const digest = "@sha256:0123456789012345678901234567890123456789012345678901234567890123"
	for spec, want := range map[string]bool{
		"distribution: {name: starter, version: \"0.7\"}":                                    false,
		"distribution: {name: starter, version: \"0.7\"}\nworkload: {storage: {}}":           false,
		"distribution: {name: starter, version: \"0.8\"}":                                    true,
		"distribution: {name: starter, version: \"1.5\"}\nworkload: {storage: {}}":           true,
		"distribution: {image: \"example.com/mine:0.7.1\"}\nworkload: {storage: {}}":         true, // the tag may be wrong
		"distribution: {image: \"example.com/mine" + digest + "\"}\nworkload: {storage: {}}": true,
		"distribution: {image: \"docker.io/llamastack/distribution-starter:0.7.1\"}":         false,
		"distribution: {image: \"docker.io/ogxai/distribution-starter:1.5.0\"}":              true,
	} {
		for _, older := range []bool{true, false} {
			in := input(t, spec)
			if older {
				in = mark(in)
			}
			set := slices.ContainsFunc(environment(container(t, build(t, in))), func(variable string) bool {
				return strings.HasPrefix(variable, "OGX_CONFIG_DIR=/.llama")
			})
			if set != want {
				t.Errorf("%s (v1alpha1: %t): the variable is set: %t", spec, older, set)
			}
		}
	}
}

// A stack with a volume has warnings about data that is not on the volume, or not with certainty.
func TestDataNotOnTheVolume(t *testing.T) {
	const volume = "distribution: {name: starter, version: \"0.7\"}\nworkload: {storage: {}"
	for spec, want := range map[string]struct{ v1alpha1, v1alpha2 string }{
		volume + "}": {"the image determines the home directory", ""},
		volume + ", overrides: {env: [{name: HOME, value: /}]}}":                       {"", ""},
		volume + ", overrides: {env: [{name: HOME, value: /root}]}}":                   {"in /root/.llama/distributions/starter, which is not on the volume", ""},
		volume + ", overrides: {env: [{name: SQLITE_STORE_DIR, value: /data/stack}]}}": {"in /data/stack, which is not on the volume", "in /data/stack, which is not on the volume"},
		"distribution: {name: starter, version: \"0.7\"}":                              {},
	} {
		for _, older := range []bool{true, false} {
			in, wanted := input(t, spec), want.v1alpha2
			if older {
				in, wanted = mark(in), want.v1alpha1
			}
			var told []string
			for _, warning := range build(t, in).Warnings {
				told = append(told, warning.String())
			}
			if text := strings.Join(told, "\n"); !strings.Contains(text, wanted) || wanted == "" && text != "" {
				t.Errorf("%s (v1alpha1: %t): warnings %q, want %q", spec, older, text, wanted)
			}
		}
	}
}

// The cases show the data that one release's starter distribution leaves behind when the next or previous release
// replaces it on the same volume.
func TestCrossings(t *testing.T) {
	const files = "agents,batches,files,inference,registry,vector_io/faiss,vector_io/sqlite-vec spec.distribution"
	want := map[string][]string{
		"0.2 to 0.3": {files},
		"0.3 to 0.2": {files},
		"0.3 to 0.4": {"vector_io/faiss spec.distribution waits"},
		"0.4 to 0.3": {"prompts spec.distribution"},
		"0.8 to 1.0": {"batches,prompts spec.distribution", "registry,vector_io/faiss,vector_io/sqlite-vec spec.distribution waits"},
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

// A change to the base in spec.baseConfig moves the data although the release is unchanged.
func TestLossesOfAnotherBase(t *testing.T) {
	const spec = "baseConfig: {configMapName: mine}\nworkload: {storage: {}}"
	before, after := input(t, spec), input(t, spec)
	after.Base = &plan.Base{Data: []byte(strings.ReplaceAll(string(after.Base.Data), "openai_conversations", "mine"))}
	after.Before = build(t, before).Places
	if diff := cmp.Diff([]string{"conversations spec.baseConfig"}, lost(build(t, after).Losses)); diff != "" {
		t.Errorf("losses (-want +got):\n%s", diff)
	}
}
