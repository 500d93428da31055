package cli_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestTransitions checks validate --previous for changes to one stack: the errors, and the fields with warnings.
func TestTransitions(t *testing.T) {
	const (
		vllm    = `inference: {provider: vllm, endpoint: "http://vllm:8000"}`
		before  = `distribution: {name: starter, version: "0.7"}, providers: {` + vllm + `, vectorIo: {provider: faiss}}, resources: {models: [llama3.2-8b]}, workload: {storage: {size: 10Gi}}`
		classes = `the storage class and the access modes of an existing volume cannot change, so the pods keep the volume; restore the earlier value, or move the data to a stack with another name`
	)
	for name, tc := range map[string]struct {
		from, to string // what the change replaces
		want     string // the error
		warned   string // a warning
	}{
		"nothing":           {"", "", "", ""},
		"smaller size":      {"10Gi", "5Gi", `spec.workload.storage.size: 5Gi is less than the 10Gi that PersistentVolumeClaim "demo-pvc" requests, and a volume cannot shrink. The pods keep their volume; set 10Gi or more, or remove size`, ""},
		"larger size":       {"10Gi", "20Gi", "", ""},
		"no size":           {"{size: 10Gi}", "{}", "", ""},
		"class":             {"10Gi", "10Gi, storageClassName: fast", "", `spec.workload.storage.storageClassName: the storage class of PersistentVolumeClaim "demo-pvc" was the default class of the cluster, which is not known here and might not be "fast"; ` + classes},
		"access modes":      {"10Gi", "10Gi, accessModes: [ReadWriteMany]", `spec.workload.storage.accessModes: the list of access modes of PersistentVolumeClaim "demo-pvc" is ReadWriteOnce, not ReadWriteMany; ` + classes, ""},
		"mount path":        {"10Gi", "10Gi, mountPath: /data", "", "spec.workload.storage.mountPath: the server stores uploaded files in /.llama/"},
		"no volume":         {", workload: {storage: {size: 10Gi}}", "", "", "spec.workload.storage: the data of batches, "},
		"ID of a provider":  {"provider: vllm", "provider: vllm, id: big", "", ""},
		"newer release":     {`"0.7"`, `"1.5"`, "", "spec.distribution: this release stores the data of batches, prompts in a different kind of store"},
		"older release":     {`"0.7"`, `"0.3"`, "", "spec.distribution: the data of prompts stays in"},
		"distribution":      {"starter", "postgres-demo", "registered_resources.models[0].model_id: the variable INFERENCE_MODEL is not set", ""},
		"own image":         {`{name: starter, version: "0.7"}`, `{image: "example.com/stack:prod"}`, "", ""},
		"vector provider":   {"faiss", "sqlite-vec", "", ""},
		"database":          {"workload:", `storage: {kv: {type: postgres, connectionString: {secretKeyRef: {name: pg, key: url}}}}, workload:`, "", "spec.storage.kv: the data of batches, "},
		"several at a time": {"10Gi", "5Gi, accessModes: [ReadWriteMany]", "spec.workload.storage.size: 5Gi is less", ""},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(write(t, map[string]string{"before.yaml": stack("{" + before + "}")}), "before.yaml")
			got := run(t, stack("{"+strings.Replace(before, tc.from, tc.to, 1)+"}"), "validate", "-f", "-", "--previous", file)
			if refused := got.code == 1; refused != (tc.want != "") || strings.Contains(got.err, "error:") != refused {
				t.Errorf("exit code %d, want the error %q\n%s", got.code, tc.want, got.err)
			}
			contains(t, got.err, tc.want, tc.warned)
			if tc.warned == "" && tc.want == "" && strings.Contains(got.err, "warning:") {
				t.Errorf("unexpected warning:\n%s", got.err)
			}
		})
	}
}

// TestTransitionsOfVolumes checks the volume of v1alpha1 stacks, and of stacks with a class.
func TestTransitionsOfVolumes(t *testing.T) {
	older := func(storage string) string {
		return "apiVersion: llamastack.io/v1alpha1\nkind: LlamaStackDistribution\nmetadata: {name: demo}\n" +
			"spec: {server: {distribution: {name: starter}, storage: {" + storage + "}}}\n"
	}
	newer := func(storage string) string {
		return stack(`{distribution: {name: starter}, workload: {storage: {` + storage + `}}}`)
	}
	refused := strings.Replace(newer("size: 30Gi"), "\nspec:", "\nstatus: {conditions: [{type: StorageReady, status: \"False\", reason: StorageResizeRefused, message: remains at 20Gi, lastTransitionTime: null}]}\nspec:", 1)
	for name, tc := range map[string]struct {
		before, after string
		code          int
		want          string
	}{
		"v1alpha1":              {older("size: 20Gi"), older("size: 5Gi"), 1, "error: standard input: demo: spec.server.storage.size: 5Gi is less than the 20Gi"},
		"to v1alpha2":           {older("size: 20Gi"), newer("size: 5Gi"), 1, "error: standard input: demo: spec.workload.storage.size: 5Gi is less than the 20Gi"},
		"another class":         {newer("storageClassName: slow"), newer("storageClassName: fast"), 1, `PersistentVolumeClaim "demo-pvc" has storage class "slow", not "fast"`},
		"own image":             {stack("{" + ownImage + ", workload: {workers: 2, storage: {}}}"), stack("{" + ownImage + ", workload: {workers: 2, storage: {size: 5Gi}}}"), 1, "error: standard input: demo: spec.workload.storage.size: 5Gi"},
		"own image, unreadable": {stack("{" + ownImage + ", workload: {workers: 2, storage: {}}}"), newer(""), 0, "note: standard input: demo: the configuration of the stack in --previous is in an image"},
		"refused expansion":     {refused, newer("size: 20Gi"), 0, "warning: standard input: demo: spec.workload.storage: whether PersistentVolumeClaim \"demo-pvc\" can change to this spec is not known, because the condition StorageReady of the earlier stack is False: remains at 20Gi"},
	} {
		t.Run(name, func(t *testing.T) {
			file := filepath.Join(write(t, map[string]string{"before.yaml": tc.before}), "before.yaml")
			got := run(t, tc.after, "validate", "-f", "-", "--previous", file)
			got.exits(t, tc.code)
			contains(t, got.err, tc.want)
		})
	}
	file := filepath.Join(write(t, map[string]string{"before.yaml": newer("size: 20Gi")}), "before.yaml")
	compared := run(t, newer("size: 5Gi"), "diff", "-f", "-", "--previous", file)
	contains(t, compared.err, "error: standard input: demo: spec.workload.storage.size: 5Gi is less than the 20Gi")
	compared.exits(t, 2, "diff")
}
