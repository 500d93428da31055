package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/plan"
)

func TestTriesChange(t *testing.T) {
	const models = "resources: {models: [llama]}\n"
	for _, tc := range []struct {
		name, spec string
		input      func(*plan.Input)
		// auto is the result for Auto and for an unset field.
		auto bool
	}{
		{name: "a volume for one pod at a time", spec: "workload: {storage: {}}\n", auto: true},
		{name: "the image's own configuration", spec: "workload: {storage: {}}\n", auto: true},
		{name: "no volume"},
		{name: "a volume for several pods", spec: "workload: {storage: {accessModes: [ReadWriteMany]}}\n"},
		{name: "a configuration", spec: models + "workload: {storage: {}}\n", auto: true},
		{name: "redis", spec: "storage: {kv: {type: redis, endpoint: \"r:1\"}}\nworkload: {storage: {}}\n"},
		{name: "postgres", spec: "storage: {sql: {type: postgres, connectionString: {secretKeyRef: {name: a, key: b}}}}\nworkload: {storage: {}}\n"},
		{name: "remote vectors", spec: "providers: {vectorIo: {provider: chromadb, settings: {url: \"http://c:1\"}}}\nworkload: {storage: {}}\n"},
		{name: "a variable that enables remote vectors", spec: models + "workload: {storage: {}, overrides: {env: [{name: PGVECTOR_DB, value: a}]}}\n"},
		{name: "a GPU", spec: "workload: {storage: {}, resources: {limits: {nvidia.com/gpu: 1}}}\n"},
		{name: "a GPU in another container", spec: "workload: {storage: {}, overrides: {podTemplate: {spec: {containers: [{name: a, image: a, resources: {requests: {amd.com/gpu: 1}}}]}}}}\n"},
		{name: "a device in a resource claim", spec: "workload: {storage: {}, overrides: {podTemplate: {spec: {resourceClaims: [{name: a, resourceClaimName: a}]}}}}\n"},
		{name: "ordinary resources", spec: "workload: {storage: {}, resources: {limits: {cpu: 1, memory: 1Gi}}}\n", auto: true},
		{name: "a claim of the user", spec: "workload: {storage: {}, overrides: {volumes: [{name: a, persistentVolumeClaim: {claimName: a}}]}}\n"},
		{name: "model files on a claim", spec: "modelFiles: {persistentVolumeClaim: {claimName: a}}\nworkload: {storage: {}}\n", auto: true},
		{name: "model files in an image", spec: "modelFiles: {image: {reference: a}}\nworkload: {storage: {}}\n", auto: true},
		{name: "a command of the user", spec: "workload: {storage: {}, overrides: {command: [serve]}}\n"},
		{name: "an override", spec: "overrideConfig: {configMapName: mine, key: server.yaml}\nworkload: {storage: {}}\n", auto: true},
		{
			name: "an override with a database", spec: "overrideConfig: {configMapName: mine, key: server.yaml}\nworkload: {storage: {}}\n",
			input: func(in *plan.Input) {
				in.Override.Data = []byte("distro_name: a\nproviders: {}\nstorage: {backends: {a: {type: kv_postgres, user: a, db: a}}}\n")
			},
		},
		{
			name: "an override with unknown variables",
			spec: "overrideConfig: {configMapName: mine, key: server.yaml}\nworkload: {storage: {}, overrides: {envFrom: [{secretRef: {name: a}}]}}\n",
			input: func(in *plan.Input) {
				in.Override.Data = []byte("distro_name: a\nproviders: {}\nstorage: {backends: {a: {type: '${env.KIND:=kv_sqlite}'}}}\n")
			},
			auto: true,
		},
		{
			name: "an unknown image", spec: "distribution: {image: \"example.com/mine:1\"}\nworkload: {storage: {}}\n", auto: true,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			in := input(t, tc.spec)
			if tc.input != nil {
				tc.input(&in)
			}
			for mode, want := range map[v1alpha2.PreflightMode]bool{
				"": tc.auto, v1alpha2.PreflightAuto: tc.auto, v1alpha2.PreflightAlways: true, v1alpha2.PreflightNever: false,
			} {
				if in.Object.Spec.Workload == nil {
					in.Object.Spec.Workload = &v1alpha2.WorkloadSpec{}
				}
				in.Object.Spec.Workload.Preflight = mode
				made := build(t, in)
				if got := made.TriesChange(false); got != want {
					t.Errorf("%q: tries changes %t, want %t", mode, got, want)
				}
				if got := made.TriesChange(true); got != (mode == v1alpha2.PreflightAlways) {
					t.Errorf("%q: tries a change with which the server starts alike: %t", mode, got)
				}
			}
		})
	}
}

// The operator does not test changes to a v1alpha1 stack in a preflight pod unless its spec sets a mode, because the
// stack's user does not expect a preflight.
func TestTriesChangeOfOlderStacks(t *testing.T) {
	for mode, want := range map[v1alpha2.PreflightMode]bool{
		"": false, v1alpha2.PreflightAuto: true, v1alpha2.PreflightAlways: true, v1alpha2.PreflightNever: false,
	} {
		in := input(t, "workload: {storage: {}}\n")
		in.Object.Annotations = map[string]string{names.AnnotationCompat: names.CompatV1Alpha1}
		in.Object.Spec.Workload.Preflight = mode
		if got := build(t, in).TriesChange(false); got != want {
			t.Errorf("%q: tries changes %t, want %t", mode, got, want)
		}
	}
}

func TestPreflightObjects(t *testing.T) {
	in := input(t, "storage: {kv: {type: redis, endpoint: \"r:1\", password: {secretKeyRef: {name: a, key: b}}}}\n")
	in.Trust.Own = [][]byte{[]byte("a")}
	in.Cluster.NetworkPolicies = true
	built := build(t, in)
	name, err := built.PreflightName()
	if err != nil {
		t.Fatal(err)
	}
	objects, err := built.PreflightObjects(map[string][]byte{"kv-password": []byte("x")}, "restricted-v2")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, object := range objects {
		got = append(got, fmt.Sprintf("%s %s", object.GVK.Kind, strings.Replace(object.Name, name, "NAME", 1)))
	}
	if want := "ConfigMap NAME, Secret NAME, NetworkPolicy NAME, Pod NAME"; strings.Join(got, ", ") != want {
		t.Errorf("objects %s, want %s", strings.Join(got, ", "), want)
	}
	if sent := text(t, objects); strings.Contains(sent, "demo-storage") || strings.Contains(sent, "demo-ca-bundle") {
		t.Errorf("the pod reads the same objects as the running pods:\n%s", sent)
	}
	in.Trust, in.Cluster.NetworkPolicies = plan.Trust{}, false
	in.Object.Spec.Storage = nil
	if objects, err = build(t, in).PreflightObjects(nil, ""); err != nil || len(objects) != 1 {
		t.Errorf("%d objects for a plain stack, error %v", len(objects), err)
	}
}
