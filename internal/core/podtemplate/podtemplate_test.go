package podtemplate_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/util/validation/field"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/podtemplate"
	"github.com/llamastack/llama-stack-k8s-operator/internal/testutil/golden"
)

const before = `
metadata:
  labels: {app: llama-stack, app.kubernetes.io/instance: my, team: a}
  annotations: {llamastack.io/inputs: abc}
spec:
  serviceAccountName: my-sa
  containers:
  - name: llama-stack
    image: server:1
    env: [{name: A, value: "1"}, {name: B, value: "2"}]
    resources: {requests: {cpu: "1", memory: 1Gi}}
    livenessProbe: {tcpSocket: {port: 8321}}
    volumeMounts: [{name: lls-storage, mountPath: /.llama},
      {name: user-config, mountPath: /etc/llama-stack, readOnly: true}]
  volumes:
  - {name: lls-storage, emptyDir: {}}
  - {name: user-config, configMap: {name: my-config-1}}
  - {name: lls-tmp, emptyDir: {}}
  - {name: model-files, persistentVolumeClaim: {claimName: models}}
`

func template(t testing.TB) *corev1ac.PodTemplateSpecApplyConfiguration {
	t.Helper()
	result := &corev1ac.PodTemplateSpecApplyConfiguration{}
	if err := yaml.UnmarshalStrict([]byte(before), result); err != nil {
		t.Fatal(err)
	}
	return result
}

func toJSON(t testing.TB, text string) []byte {
	t.Helper()
	data, err := yaml.YAMLToJSON([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

var path = field.NewPath("podTemplate")

// applyCases are the cases of TestApply: a patch, and the values that it changes in the template.
var applyCases = map[string]struct {
	patch string
	want  []string
}{
	"GPUs": {
		`{spec: {containers: [{name: llama-stack, resources: {limits: {nvidia.com/gpu: 1}}}]}}`,
		[]string{`+ spec.containers[llama-stack].resources.limits[nvidia.com/gpu]: "1"`},
	},
	"the nodes on which the pod runs": {
		`{spec: {nodeSelector: {gpu: a100}, tolerations: [{key: gpu, operator: Exists}], priorityClassName: high}}`,
		[]string{
			`+ spec.nodeSelector.gpu: "a100"`, `+ spec.priorityClassName: "high"`,
			`+ spec.tolerations[gpu].key: "gpu"`, `+ spec.tolerations[gpu].operator: "Exists"`,
		},
	},
	"a sidecar and an init container": {
		`{spec: {containers: [{name: proxy, image: proxy:1}], initContainers: [{name: fetch, image: fetch:1}]}}`,
		[]string{
			`+ spec.containers[proxy].image: "proxy:1"`, `+ spec.containers[proxy].name: "proxy"`,
			`+ spec.initContainers[fetch].image: "fetch:1"`, `+ spec.initContainers[fetch].name: "fetch"`,
		},
	},
	"a variable is set and another one is removed": {
		`{spec: {containers: [{name: llama-stack, env: [{name: B, value: "3"}, {name: A, $patch: delete}]}]}}`,
		[]string{
			`- spec.containers[llama-stack].env[A].name: "A"`, `- spec.containers[llama-stack].env[A].value: "1"`,
			`- spec.containers[llama-stack].env[B].value: "2"`, `+ spec.containers[llama-stack].env[B].value: "3"`,
		},
	},
	"an object is removed": {
		`{spec: {containers: [{name: llama-stack, livenessProbe: {$patch: delete}}]}}`,
		[]string{`- spec.containers[llama-stack].livenessProbe.tcpSocket.port: 8321`},
	},
	"an object is replaced": {
		`{spec: {containers: [{name: llama-stack, resources: {$patch: replace, limits: {cpu: 2}}}]}}`,
		[]string{
			`- spec.containers[llama-stack].resources.requests.cpu: "1"`,
			`- spec.containers[llama-stack].resources.requests.memory: "1Gi"`,
			`+ spec.containers[llama-stack].resources.limits.cpu: "2"`,
		},
	},
	"labels in addition to the operator's": {
		`{metadata: {labels: {team: b, more: c}, annotations: {d: e}}}`,
		[]string{
			`- metadata.labels.team: "a"`, `+ metadata.annotations.d: "e"`, `+ metadata.labels.more: "c"`,
			`+ metadata.labels.team: "b"`,
		},
	},
	"the size of /tmp": {
		`{spec: {volumes: [{name: lls-tmp, emptyDir: {sizeLimit: 1Gi}}]}}`,
		[]string{`- spec.volumes[lls-tmp].emptyDir: {}`, `+ spec.volumes[lls-tmp].emptyDir.sizeLimit: "1Gi"`},
	},
}

// TestApply checks the effect of patches on a template.
func TestApply(t *testing.T) {
	for name, tc := range applyCases {
		t.Run(name, func(t *testing.T) {
			given, start := template(t), fields(t, template(t))
			result, errs := podtemplate.Apply(given, toJSON(t, tc.patch), path)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			if diff := cmp.Diff(start, fields(t, given)); diff != "" {
				t.Errorf("the input template changed:\n%s", diff)
			}
			want := strings.Join(tc.want, "\n") + "\n"
			if diff := cmp.Diff(want, string(golden.Changes(start, fields(t, result)))); diff != "" {
				t.Errorf("changes (-want +got):\n%s", diff)
			}
		})
	}
}

func fields(t testing.TB, template any) map[string]any {
	t.Helper()
	data, err := json.Marshal(template)
	if err != nil {
		t.Fatal(err)
	}
	var result map[string]any
	if err := json.Unmarshal(data, &result); err != nil {
		t.Fatal(err)
	}
	return result
}

// TestBounds checks that the size of a patch and the length of each of its lists and maps are limited, which limits the
// cost of the merge.
func TestBounds(t *testing.T) {
	entries := func(count int, entry string) string {
		var b strings.Builder
		for i := range count {
			fmt.Fprintf(&b, entry+", ", i)
		}
		return b.String()
	}
	env := func(count int) string {
		return `{spec: {containers: [{name: llama-stack, env: [` + entries(count, "{name: V%d}") + `]}]}}`
	}
	for name, tc := range map[string]struct{ patch, want string }{
		"the maximum number of variables": {env(podtemplate.MaxEntries), ""},
		"one variable too many":           {env(podtemplate.MaxEntries + 1), `podTemplate.spec.containers[0].env: 501 entries exceed the limit of 500: remove some`},
		"too many labels":                 {`{metadata: {labels: {` + entries(501, "l%d: v") + `}}}`, `podTemplate.metadata.labels: 501 entries exceed the limit of 500: remove some`},
		"the maximum number of bytes is exceeded": {
			`{metadata: {annotations: {a: ` + strings.Repeat("x", podtemplate.MaxBytes) + `}}}`,
			`podTemplate: 262181 bytes exceed the limit of 262144 for a patch: move long parts to a ConfigMap and mount the ConfigMap`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			_, errs := podtemplate.Apply(template(t), toJSON(t, tc.patch), path)
			if got := intent.Messages(errs); got != tc.want {
				t.Errorf("got  %s\nwant %s", got, tc.want)
			}
		})
	}
}

// refusalCases are the cases of TestErrors.
var refusalCases = map[string]struct{ patch, want string }{
	"not an object": {`[a]`, `podTemplate: must be an object that is part of a pod template, such as {spec: {tolerations: […]}}`},
	"a misspelt field": {
		`{spec: {contaners: []}}`, `podTemplate.spec.contaners: unknown field; did you mean "containers"?`,
	},
	"a misspelt field of an item": {
		`{spec: {containers: [{name: llama-stack, resources: {limit: {cpu: 1}}}]}}`,
		`podTemplate.spec.containers[0].resources.limit: unknown field; did you mean "limits"?`,
	},
	"a field with no similar name":       {`{zzzzzzzz: 1}`, `podTemplate.zzzzzzzz: unknown field; known fields: metadata, spec`},
	"the wrong type of a value in a map": {`{spec: {nodeSelector: {a: 1}}}`, `podTemplate.spec.nodeSelector[a]: must be text, got a number; quote it`},
	"the wrong type":                     {`{spec: {hostNetwork: "yes"}}`, `podTemplate.spec.hostNetwork: must be true or false, got "yes"`},
	"several mistakes": {
		`{spec: {hostNetwork: "yes", terminationGracePeriodSeconds: long}}`,
		"podTemplate.spec.hostNetwork: must be true or false, got \"yes\"\n" +
			`podTemplate.spec.terminationGracePeriodSeconds: must be a whole number, got "long"`,
	},
	"a misspelt container": {
		`{spec: {containers: [{name: lama-stack, resources: {limits: {cpu: 1}}}]}}`,
		`podTemplate.spec.containers[lama-stack].image: required: container "lama-stack" has no image; ` +
			`to change the server's container, use the name "llama-stack"; to add a container, set an image`,
	},
	"an init container without an image": {
		`{spec: {initContainers: [{name: prepare}]}}`,
		`podTemplate.spec.initContainers[prepare].image: required: init container "prepare" has no image; set an image`,
	},
	"not a quantity": {
		`{spec: {containers: [{name: llama-stack, resources: {limits: {cpu: much}}}]}}`,
		`podTemplate.spec.containers[0].resources.limits[cpu]: "much" is not a quantity: write a quantity such as 10Gi, 500m or 2`,
	},
	"null": {
		`{spec: {containers: [{name: llama-stack, livenessProbe: null}]}}`,
		"podTemplate.spec.containers[0].livenessProbe: kubectl apply and Helm drop null values: remove the null or, " +
			"to remove an object, write {$patch: delete}",
	},
	"not a directive": {
		`{spec: {$path: delete}}`,
		`podTemplate.spec.$path: "$path" is not a directive of a strategic merge patch: write $patch: delete or $patch: replace`,
	},
	"an unknown directive": {`{spec: {$patch: destroy}}`, `podTemplate.spec.$patch: must be delete, replace or merge`},
	"an item without a name": {
		`{spec: {containers: [{image: a}]}}`,
		`podTemplate.spec.containers[0].name: required: name identifies the items of containers`,
	},
	"a mount without a path": {
		`{spec: {containers: [{name: llama-stack, volumeMounts: [{name: a}]}]}}`,
		`podTemplate.spec.containers[0].volumeMounts[0].mountPath: required: mountPath identifies the items of volumeMounts`,
	},
	"a label of the selector": {
		`{metadata: {labels: {app: mine}}}`, `podTemplate.metadata.labels[app]: selects the pods of the Deployment and cannot be changed: remove this label from the patch`,
	},
	"every label of the selector": {
		`{metadata: {labels: {$patch: replace, a: b}}}`,
		"podTemplate.metadata.labels[app]: selects the pods of the Deployment and cannot be changed: remove this label from the patch\n" +
			"podTemplate.metadata.labels[app.kubernetes.io/instance]: selects the pods of the Deployment and cannot be changed: remove this label from the patch",
	},
	"an annotation of the operator": {
		`{metadata: {annotations: {llamastack.io/inputs: x}}}`,
		"podTemplate.metadata.annotations[llamastack.io/inputs]: belongs to the operator and cannot be changed: remove this annotation from the patch",
	},
	"the annotation of the generation": {
		`{metadata: {annotations: {llamastack.io/generation: x}}}`,
		"podTemplate.metadata.annotations[llamastack.io/generation]: belongs to the operator and cannot be changed: remove this annotation from the patch",
	},
	"the image": {
		`{spec: {containers: [{name: llama-stack, image: mine}]}}`,
		"podTemplate.spec.containers[llama-stack].image: is set by spec.distribution: set spec.distribution.image instead",
	},
	"the server's container": {
		`{spec: {containers: [{name: llama-stack, $patch: delete}]}}`,
		"podTemplate.spec.containers[llama-stack]: is the server's container and can be neither removed nor renamed: remove the $patch directive",
	},
	"a volume of the operator": {
		`{spec: {volumes: [{name: lls-storage, $patch: delete}]}}`,
		"podTemplate.spec.volumes[lls-storage]: belongs to the operator and cannot be removed: remove the $patch directive",
	},
	"the volume of the configuration": {
		`{spec: {volumes: [{name: user-config, configMap: {name: mine}}]}}`,
		"podTemplate.spec.volumes[user-config]: belongs to the operator and cannot be changed: give your volume another name",
	},
	"the volume of the programs that run first": {
		`{spec: {volumes: [{name: lls-startup, configMap: {name: mine}}]}}`,
		"podTemplate.spec.volumes[lls-startup]: belongs to the operator and cannot be changed: give your volume another name",
	},
	"a mount in place of the programs that run first": {
		`{spec: {containers: [{name: llama-stack, volumeMounts: [{name: mine, mountPath: /etc/llama-stack-startup}]}]}}`,
		`podTemplate.spec.containers[llama-stack].volumeMounts[/etc/llama-stack-startup]: is the path at which the operator mounts volume "lls-startup": use another path`,
	},
	"a mount in place of the configuration": {
		`{spec: {containers: [{name: llama-stack, volumeMounts: [{name: mine, mountPath: /etc/llama-stack}]}]}}`,
		`podTemplate.spec.containers[llama-stack].volumeMounts[/etc/llama-stack]: is the path at which the operator mounts volume "user-config": use another path`,
	},
	"the whole spec": {
		`{spec: {$patch: replace, containers: [{name: llama-stack, image: server:1}]}}`,
		"podTemplate.spec.volumes[lls-storage]: belongs to the operator and cannot be removed: remove the $patch directive\n" +
			"podTemplate.spec.volumes[lls-tmp]: belongs to the operator and cannot be removed: remove the $patch directive\n" +
			"podTemplate.spec.volumes[model-files]: belongs to the operator and cannot be removed: remove the $patch directive\n" +
			"podTemplate.spec.volumes[user-config]: belongs to the operator and cannot be removed: remove the $patch directive\n" +
			`podTemplate.spec.containers[llama-stack].volumeMounts[/etc/llama-stack]: is the path at which the operator mounts volume "user-config": use another path`,
	},
}

func TestErrors(t *testing.T) {
	for name, tc := range refusalCases {
		t.Run(name, func(t *testing.T) {
			_, errs := podtemplate.Apply(template(t), toJSON(t, tc.patch), path)
			if diff := cmp.Diff(tc.want, intent.Messages(errs)); diff != "" {
				t.Errorf("errors (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCheck checks which patches are forbidden for all stacks. Admission checks a patch before there is a template.
func TestCheck(t *testing.T) {
	for patch, refused := range map[string]bool{
		`{spec: {priorityClassName: high}}`:                              false,
		`{spec: {containers: [{name: sidecar, image: a}]}}`:              false,
		`{metadata: {labels: {app: mine}}}`:                              true,
		`{spec: {volumes: [{name: lls-tls, secret: {secretName: a}}]}}`:  true,
		`{spec: {volumes: [{name: lls-startup, emptyDir: {}}]}}`:         true,
		`{spec: {volumes: [{name: lls-storage, emptyDir: {}}]}}`:         false,
		`{spec: {containers: [{name: llama-stack, image: "server:1"}]}}`: true,
	} {
		if errs := podtemplate.Check(toJSON(t, patch), names.Container, path); (len(errs) > 0) != refused {
			t.Errorf("%s: errors %v, want an error: %t", patch, errs, refused)
		}
	}
}

// FuzzApply checks that, after any patch that is accepted, the pods match the selector of the Deployment and run the
// selected server.
func FuzzApply(f *testing.F) {
	for _, seed := range []string{
		`{"spec":{"containers":[{"name":"llama-stack","image":"x"}]}}`, `{"metadata":{"labels":{"$patch":"replace"}}}`,
		`{"spec":{"$retainKeys":["a"],"containers":[{"$patch":"replace"}]}}`, `{"spec":{"volumes":[{"name":"a","$patch":"delete"}]}}`,
		`{"$patch":"delete"}`, `{"spec":{"$setElementOrder/containers":[{"name":"a"}]}}`, `{"spec":{"containers":[null]}}`, `[]`, `null`, `{`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, patch []byte) {
		result, errs := podtemplate.Apply(template(t), patch, path)
		if len(errs) > 0 {
			return
		}
		for key, value := range names.Selector("my") {
			if result.Labels[key] != value {
				t.Errorf("label %s is %q", key, result.Labels[key])
			}
		}
		if first := result.Spec.Containers[0]; *first.Name != names.Container || *first.Image != "server:1" {
			t.Errorf("first container %v", first)
		}
	})
}
