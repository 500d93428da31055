package validate

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"sigs.k8s.io/yaml"

	"github.com/llamastack/llama-stack-k8s-operator/api/v1alpha2"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/names"
)

// compat are the annotations of a v1alpha1 stack.
var compat = map[string]string{names.AnnotationCompat: names.CompatV1Alpha1}

// warningCases are the cases of TestWarnings.
var warningCases = map[string]struct {
	spec        string
	annotations map[string]string
	want        []string
}{
	"nothing odd": {spec: "{providers: {inference: {provider: vllm}}, disabled: [eval]}"},
	"disabled and configured": {
		spec: "{providers: {postTraining: {provider: torchtune}, datasetIo: {provider: localfs}}, disabled: [post_training, datasetIo]}",
		want: []string{
			`spec.providers.datasetIo: provider "localfs" is ignored, because spec.disabled[1] disables it; remove the provider or the entry`,
			`spec.providers.postTraining: provider "torchtune" is ignored, because spec.disabled[0] disables it; remove the provider or the entry`,
		},
	},
	"one of two is disabled": {
		spec: "{providers: {inference: [{id: a, provider: vllm}, {id: b, provider: openai}]}, disabled: [inference/b]}",
		want: []string{`spec.providers.inference[1]: provider "b" is ignored, because spec.disabled[0] disables it; remove the provider or the entry`},
	},
	"variable twice": {
		spec: "{secretEnv: {TOKEN: {secretKeyRef: {name: a, key: b}}}, workload: {overrides: {env: [{name: TOKEN, value: x}]}}}",
		want: []string{`spec.workload.overrides.env[0].name: "TOKEN" is also set in secretEnv, and the value here takes precedence; remove one of the two`},
	},
	"a command that has to serve HTTPS": {
		spec: "{networking: {tls: {enabled: true, secretName: a}}, workload: {overrides: {command: [uvicorn]}}}",
		want: []string{"spec.workload.overrides.command: the probes use HTTPS, so this command must serve HTTPS: " +
			"use the certificate and the key in /etc/llama-stack-tls, or use the image's entrypoint"},
	},
	"a command without HTTPS": {spec: "{networking: {tls: {}}, workload: {overrides: {command: [uvicorn]}}}"},
	"a topology spread constraint without a selector": {
		spec: "{workload: {topologySpreadConstraints: [{maxSkew: 1, topologyKey: zone, whenUnsatisfiable: DoNotSchedule}]}}",
		want: []string{"spec.workload.topologySpreadConstraints[0]: without a labelSelector, the constraint counts no pods and has no effect: " +
			"add labelSelector: {matchLabels: {app.kubernetes.io/instance: my-stack}}"},
	},
	"workers that share a CPU": {
		spec: "{workload: {workers: 4, resources: {limits: {cpu: 1500m}}}}",
		want: []string{`spec.workload.resources.limits[cpu]: "1500m" is less than one CPU for each of 4 workers, and the server stops ` +
			`a worker that takes more than 5 s to start, so the server might never become ready; raise the limit to "4" or remove it`},
	},
	"a CPU for each worker":         {spec: "{workload: {workers: 2, resources: {limits: {cpu: 2000m}}}}"},
	"workers without limit":         {spec: "{workload: {workers: 2, resources: {requests: {cpu: 100m}, limits: {memory: 1Gi}}}}"},
	"one worker with half a CPU":    {spec: "{workload: {workers: 1, resources: {limits: {cpu: 500m}}}}"},
	"workers that a command starts": {spec: "{workload: {workers: 2, resources: {limits: {cpu: 1}}, overrides: {command: [gunicorn]}}}"},
	"a volume of 1 MiB": {
		spec: "{workload: {storage: {size: 1Mi}}}",
		want: []string{`spec.workload.storage.size: "1Mi" is 1048576 bytes, which is less than 100Mi; write an amount such as 10Gi`},
	},
	"amounts without a unit": {
		spec: "{workload: {storage: {size: '10'}, resources: {requests: {memory: 512m, cpu: 500, ephemeral-storage: '100'}, limits: {memory: '512', cpu: 1000}}}}",
		want: []string{
			`spec.workload.storage.size: "10" is 10 bytes, which is less than 100Mi; write an amount such as 10Gi`,
			`spec.workload.resources.requests[cpu]: "500" is more CPUs than a node has; write an amount such as 2 or 500m`,
			`spec.workload.resources.requests[ephemeral-storage]: "100" is 100 bytes, which is less than 1Mi; write an amount such as 2Gi`,
			`spec.workload.resources.requests[memory]: "512m" is less than one byte, which is less than 8Mi; write an amount such as 2Gi`,
			`spec.workload.resources.limits[cpu]: "1k" is more CPUs than a node has; write an amount such as 2 or 500m`,
			`spec.workload.resources.limits[memory]: "512" is 512 bytes, which is less than 64Mi; write an amount such as 2Gi`,
		},
	},
	"amounts in the pod": {
		spec: "{workload: {overrides: {volumes: [{name: a, emptyDir: {sizeLimit: 5}}], podTemplate: {spec: {" +
			"volumes: [{name: b, ephemeral: {volumeClaimTemplate: {spec: {accessModes: [ReadWriteOnce], resources: {requests: {storage: 10}}}}}}]," +
			"containers: [{name: llama-stack, resources: {limits: {memory: 32Mi}}}, {name: proxy, image: a, resources: {limits: {memory: 64}}}]}}}}}",
		want: []string{
			`spec.workload.overrides.volumes[0].emptyDir.sizeLimit: "5" is 5 bytes, which is less than 1Mi; write an amount such as 1Gi`,
			`spec.workload.overrides.podTemplate.spec.volumes[0].ephemeral.volumeClaimTemplate.spec.resources.requests[storage]: "10" is 10 bytes, which is less than 100Mi; write an amount such as 10Gi`,
			`spec.workload.overrides.podTemplate.spec.containers[0].resources.limits[memory]: "32Mi" is 33554432 bytes, which is less than 64Mi; write an amount such as 2Gi`,
			`spec.workload.overrides.podTemplate.spec.containers[1].resources.limits[memory]: "64" is 64 bytes, which is less than 1Mi; write an amount such as 2Gi`,
		},
	},
	"a resource without a domain": {
		spec: "{workload: {resources: {limits: {nvidia/gpu: 1, nvidia.com/gpu: 1}}}}",
		want: []string{`spec.workload.resources.limits[nvidia/gpu]: "nvidia/gpu" has no domain, and device plugins register names such as nvidia.com/gpu; ` +
			`without a plugin for this name, no node can run the pod; correct the name`},
	},
	"small amounts": {
		spec: "{workload: {storage: {size: 100Mi}, resources: {requests: {memory: 16Mi, cpu: 10m}, limits: {memory: 64Mi}}, overrides: {volumes: [{name: a, emptyDir: {sizeLimit: 0}}]}}}",
	},
	"endpoints of nothing": {
		spec: "{providers: {inference: [{id: a, provider: vllm, endpoint: 'http://<host>:8000'}, {id: b, provider: vllm, endpoint: 'https://http://vllm:8000/v1'}, " +
			"{id: c, provider: vllm, endpoint: 'http://localhost:8000/v1'}, {id: d, provider: vllm, endpoint: 'http://vllm/v1/chat/completions/'}, " +
			"{id: e, provider: vllm, endpoint: 'http://[::1]:8000'}, {id: f, provider: vllm, settings: {base_url: 'http://127.0.0.1/v1/models'}}, " +
			"{id: g, provider: vllm, endpoint: 'http://your-host:8000'}]," +
			"vectorIo: {provider: pgvector, settings: {host: ' db'}}}, resources: {tools: [{name: t, provider: p, mcpEndpoint: 'http://$(HOST)/sse'}]}, storage: {kv: {type: redis, endpoint: 'localhost:6379'}}}",
		want: []string{
			`spec.providers.inference[0].endpoint: "http://<host>:8000" contains a placeholder ("<"); write the name of the host`,
			`spec.providers.inference[1].endpoint: "https://http://vllm:8000/v1" contains two schemes; write "http://vllm:8000/v1"`,
			`spec.providers.inference[2].endpoint: "http://localhost:8000/v1" refers to the pod of the server itself ("localhost"), in which nothing else runs; write the name of a Service, such as vllm or vllm.my-namespace.svc`,
			`spec.providers.inference[3].endpoint: "http://vllm/v1/chat/completions/" contains the path of an operation (/chat/completions), which the server adds itself; write "http://vllm/v1"`,
			`spec.providers.inference[4].endpoint: "http://[::1]:8000" refers to the pod of the server itself ("::1"), in which nothing else runs; write the name of a Service, such as vllm or vllm.my-namespace.svc`,
			`spec.providers.inference[5].settings.base_url: "http://127.0.0.1/v1/models" refers to the pod of the server itself ("127.0.0.1"), in which nothing else runs; write the name of a Service, such as vllm or vllm.my-namespace.svc`,
			`spec.providers.inference[5].settings.base_url: "http://127.0.0.1/v1/models" contains the path of an operation (/models), which the server adds itself; write "http://127.0.0.1/v1"`,
			`spec.providers.inference[6].endpoint: "http://your-host:8000" contains a placeholder ("your-"); write the name of the host`,
			`spec.providers.vectorIo.settings.host: " db" begins or ends with white space; write "db"`,
			`spec.resources.tools[0].mcpEndpoint: "http://$(HOST)/sse" contains a placeholder ("$("); write the name of the host`,
			`spec.storage.kv.endpoint: "localhost:6379" refers to the pod of the server itself ("localhost"), in which nothing else runs; write the name of a Service, such as vllm or vllm.my-namespace.svc`,
		},
	},
	"endpoints of something": {
		spec: "{providers: {inference: [{id: a, provider: vllm, endpoint: 'http://vllm:8000/v1/'}, {id: b, provider: vllm, endpoint: 'http://http:8000'}, " +
			"{id: c, provider: vllm, endpoint: '${env.VLLM_URL:=http://localhost:8000/v1}'}, {id: d, provider: azure, endpoint: 'https://a.services.ai.azure.com/models'}, " +
			"{id: e, provider: vllm, endpoint: 'http://vllm/models/v1'}]}, resources: {tools: [{name: t, provider: p, mcpEndpoint: 'http://localhost:8321/v1/models'}]}}",
	},
	"localhost beside another container": {
		spec: "{providers: {inference: {provider: vllm, endpoint: 'http://localhost:8000'}}, workload: {overrides: {podTemplate: {spec: {containers: [{name: vllm, image: a}]}}}}}",
	},
	"localhost beside a sidecar": {
		spec: "{providers: {inference: {provider: vllm, endpoint: 'http://localhost:8000'}}, workload: {overrides: {podTemplate: {spec: {initContainers: [{name: vllm, image: a, restartPolicy: Always}]}}}}}",
	},
	"localhost of the node": {
		spec: "{providers: {inference: {provider: vllm, endpoint: 'http://localhost:8000'}}, workload: {overrides: {podTemplate: {spec: {hostNetwork: true}}}}}",
	},
	"replicas and an autoscaler": {
		spec: "{workload: {replicas: 3, autoscaling: {maxReplicas: 5}}}",
		want: []string{"spec.workload.replicas: 3 has no effect, because the autoscaler sets the number of pods; remove replicas, or set spec.workload.autoscaling.minReplicas"},
	},
	"the default replicas and an autoscaler": {spec: "{workload: {replicas: 1, autoscaling: {maxReplicas: 5}}}"},
	"a stopped stack with an autoscaler":     {spec: "{workload: {replicas: 0, autoscaling: {maxReplicas: 5}}}"},
	"replicas and an autoscaler (v1alpha1)":  {spec: "{workload: {replicas: 3, autoscaling: {maxReplicas: 5}}}", annotations: compat},
	"a variable twice in a list": {
		spec: "{workload: {overrides: {env: [{name: A, value: b}, {name: A, value: c}], podTemplate: {spec: {containers: [{name: llama-stack, env: [{name: A, value: d}]}]}}}}}",
		want: []string{
			`spec.workload.overrides.env[1].name: "A" is also set in spec.workload.overrides.env[0], and the value here takes precedence; remove one of the two`,
			`spec.workload.overrides.podTemplate.spec.containers[0].env[0].name: "A" is also set in spec.workload.overrides.env[0], and the value here takes precedence; remove one of the two`,
		},
	},
	"a drain of one pod": {
		spec: "{workload: {podDisruptionBudget: {minAvailable: 1}}}",
		want: []string{`spec.workload.podDisruptionBudget.minAvailable: "1" of 1 pod allows no eviction, so the drain of a node with such a pod never ends; use maxUnavailable: 1, or run more pods`},
	},
	"a drain without unavailable pods": {
		spec: "{workload: {replicas: 3, podDisruptionBudget: {maxUnavailable: '0%'}}}",
		want: []string{`spec.workload.podDisruptionBudget.maxUnavailable: "0%" of 3 pods allows no eviction, so the drain of a node with such a pod never ends; use maxUnavailable: 1, or run more pods`},
	},
	"a drain at low load": {
		spec: "{workload: {autoscaling: {minReplicas: 2, maxReplicas: 4}, podDisruptionBudget: {minAvailable: 51%}}}",
		want: []string{`spec.workload.podDisruptionBudget.minAvailable: "51%" of 2 pods allows no eviction, so the drain of a node with such a pod never ends; use maxUnavailable: 1, or run more pods`},
	},
	"a drain that ends":                  {spec: "{workload: {replicas: 2, podDisruptionBudget: {minAvailable: 50%}}}"},
	"a small part of the pods at a time": {spec: "{workload: {podDisruptionBudget: {maxUnavailable: 1%}}}"},
	"a budget of a stopped stack":        {spec: "{workload: {replicas: 0, podDisruptionBudget: {minAvailable: 1}}}"},
	"a drain at low load, in v1alpha1":   {spec: "{workload: {replicas: 3, autoscaling: {maxReplicas: 4}, podDisruptionBudget: {minAvailable: 2}}}", annotations: compat},
	"an annotation that nobody reads": {
		spec: "{}", annotations: map[string]string{
			"llamastack.io/pausd": "true", "llamastack.io/team": "a", "example.com/paused": "true",
			names.AnnotationPaused: "false",
		},
		want: []string{
			`metadata.annotations[llamastack.io/pausd]: the operator has no annotation "pausd", so it has no effect; did you mean llamastack.io/paused?`,
			`metadata.annotations[llamastack.io/team]: the operator has no annotation "team", so it has no effect; remove it; known annotations: ` +
				"llamastack.io/compat, llamastack.io/container-name, llamastack.io/user-config-namespace, llamastack.io/ca-bundle-namespace, llamastack.io/accept-data-loss, llamastack.io/paused, llamastack.io/conversion-data",
		},
	},
	"names of the operator that nothing needs": {
		spec: "{workload: {overrides: {podAnnotations: {llamastack.io/inputs: a}, volumes: [{name: ca-bundle, emptyDir: {}}], volumeMounts: [{name: ca-bundle, mountPath: /tmp}], env: [{name: LLS_PORT, value: '1'}]," +
			"podTemplate: {spec: {initContainers: [{name: model-files, image: a}], containers: [{name: proxy, image: a, ports: [{containerPort: 8321}]}]}}}}}",
		want: []string{
			`spec.workload.overrides.volumes[0].name: "ca-bundle" is the name of one of the operator's volumes, which this volume replaces: use another name`,
			`spec.workload.overrides.volumeMounts[0].mountPath: "/tmp" is the path of one of the operator's volumes, which this mount replaces: use another path`,
			`spec.workload.overrides.podTemplate.spec.initContainers[0].name: "model-files" is the name of one of the operator's init containers, which this one replaces: use another name`,
			`spec.workload.overrides.podTemplate.spec.containers[0].ports[0].containerPort: "8321" is the port of the server, and only one container of a pod can listen on a port: use another port`,
			`spec.workload.overrides.env[0].name: "LLS_PORT" is one of the operator's variables, which this value replaces: remove it, and set spec.networking.port instead`,
			`spec.workload.overrides.podAnnotations[llamastack.io/inputs]: "llamastack.io/inputs" is an annotation of the operator, which ignores this value: remove it`,
		},
	},
	"a directory for downloads off the volume": {
		spec: "{workload: {storage: {}, overrides: {env: [{name: HF_HOME, value: /tmp/hf}]}}}",
		want: []string{`spec.workload.overrides.env[0].name: "HF_HOME" is one of the operator's variables, which this value replaces: write a directory below "/.llama", the path of the volume`},
	},
	"names of the operator in a v1alpha1 stack": {
		spec: "{workload: {storage: {}, overrides: {volumes: [{name: lls-storage, emptyDir: {}}]}}}", annotations: compat,
		want: []string{`spec.workload.overrides.volumes[0].name: "lls-storage" is the name of the operator's volume that spec.workload.storage needs, which this volume replaces: use another name`},
	},
	"the operator's prefix": {
		spec: "{workload: {overrides: {env: [{name: A}, {name: LLSD_VLLM_API_KEY}]}}}",
		want: []string{`spec.workload.overrides.env[1].name: "LLSD_VLLM_API_KEY" begins with LLSD_, ` +
			`the prefix of the operator's variables, and replaces any operator variable with the same name; use another name`},
	},
}

func TestWarnings(t *testing.T) {
	for name, tc := range warningCases {
		t.Run(name, func(t *testing.T) {
			obj := &v1alpha2.LlamaStackDistribution{}
			obj.Name, obj.Annotations, obj.Spec.Distribution.Name = "my-stack", tc.annotations, "starter"
			if err := yaml.UnmarshalStrict([]byte(tc.spec), &obj.Spec); err != nil {
				t.Fatal(err)
			}
			_, warnings, errs := Spec(obj)
			if len(errs) > 0 {
				t.Fatal(errs)
			}
			if diff := cmp.Diff(tc.want, warnings); diff != "" {
				t.Errorf("warnings (-want +got):\n%s", diff)
			}
		})
	}
}
