package shape

import (
	"fmt"
	"maps"
	"strings"
)

// All lists the shapes, grouped by the part of the pipeline that they stress.
var All = []Shape{
	{"base: aliases of a long string", 3000, withBase(func(n int) string {
		return "x: &a " + strings.Repeat("a", 150_000) + "\ny:\n" + lines(n, "- *a\n")
	})},
	{"base: aliases of aliases", 9, withBase(func(n int) string {
		var text strings.Builder
		text.WriteString("x0: &a0 [x, x, x, x, x, x, x, x]\n")
		for i := range n {
			fmt.Fprintf(&text, "x%d: &a%d [%s]\n", i+1, i+1, strings.Repeat(fmt.Sprintf("*a%d, ", i), 8))
		}
		return text.String()
	})},
	{"base: merges", 3000, withBase(func(n int) string {
		return "x: &a {" + lines(1000, "k%d: v, ") + "}\ny:\n" + lines(n, "- {<<: *a}\n")
	})},
	{"base: unknown keys", 45_000, withBase(func(n int) string { return lines(n, "unknown_%d: 1\n") })},
	{"base: unknown mappings", 24_000, withBase(func(n int) string { return lines(n, "unknown_%d: {a: 1}\n") })},
	{"base: unknown server keys", 40_000, withBase(func(n int) string { return "server:\n" + lines(n, "  unknown_%d: 1\n") })},
	{"base: unknown provider keys", 33_000, withBase(func(n int) string {
		return "providers:\n  inference:\n  - provider_id: vllm\n    provider_type: remote::vllm\n    config:\n" + lines(n, "      unknown_%d: 1\n")
	})},
	{"base: wrong keys in a section that forbids them", 40_000, withBase(func(n int) string {
		return "storage:\n  backends:\n    kv_default: {type: kv_sqlite, db_path: /a}\n" + lines(n, "    b_%d: {}\n")
	})},
	{"base: unknown apis", 70_000, withBase(func(n int) string { return "apis:\n" + lines(n, "- a%d\n") })},
	{"base: the same API", 65_000, withBase(func(n int) string { return "apis:\n" + lines(n, "- inference\n") })},
	{"base: unknown providers", 32_000, withBase(func(n int) string { return "providers:\n" + lines(n, "  a%d: [{}]\n") })},
	{"base: providers for one API", 14_000, withBase(func(n int) string {
		return "providers:\n  inference:\n" + lines(n, "  - {provider_id: p%d, provider_type: remote::vllm}\n")
	})},
	{"base: providers that need another API", 14_000, withBase(func(n int) string {
		return "providers:\n  vector_io:\n" + lines(n, "  - {provider_id: p%d, provider_type: inline::faiss}\n")
	})},
	{"base: providers with the same ID", 14_000, withBase(func(n int) string {
		return "providers:\n  inference:\n" + lines(n, "  - {provider_id: p, provider_type: remote::vllm}\n")
	})},
	{"base: providers with conditional IDs", 10_000, withBase(func(n int) string {
		return "providers:\n  inference:\n" + lines(n, "  - {provider_id: '${env.P%d:+p%d}', provider_type: remote::vllm}\n")
	})},
	{"base: scoring", 10_000, withBase(func(n int) string {
		return "providers:\n  scoring:\n" + lines(n, "  - {provider_id: p%d, provider_type: inline::basic}\n")
	})},
	{"base: backends", 14_000, withBase(func(n int) string {
		return "storage:\n  backends:\n" + lines(n, "    b%d: {type: sql_sqlite, db_path: /d%d/f}\n")
	})},
	{"base: kv backends", 14_000, withBase(func(n int) string {
		return "storage:\n  backends:\n" + lines(n, "    b%d: {type: kv_sqlite, db_path: /d%d/f}\n")
	})},
	{"base: both backends", 7_000, withBase(func(n int) string {
		return "storage:\n  backends:\n" + lines(n, "    b%d: {type: sql_sqlite, db_path: /d%d/f}\n    k%d: {type: kv_sqlite, db_path: /k%d/f}\n")
	})},
	{"base: stores", 20_000, withBase(func(n int) string {
		return "storage:\n  backends:\n    b: {type: sql_sqlite, db_path: /d/f}\n  stores:\n" + lines(n, "    s%d: {backend: b%d}\n")
	})},
	{"base: references to backends", 7_000, withBase(func(n int) string {
		return "storage:\n  backends:\n" + lines(n, "    b%d: {type: sql_sqlite}\n") + "x:\n" + lines(n,
			"- {backend: b%d}\n") + lines(n, "- {backend: c%d}\n")
	})},
	{"base: models", 10_000, withBase(func(n int) string {
		return "providers:\n  inference:\n  - {provider_id: vllm, provider_type: remote::vllm}\nregistered_resources:\n  models:\n" +
			lines(n, "  - {model_id: m%d, provider_id: vllm, model_type: llm}\n")
	})},
	{"base: models with unknown providers", 10_000, withBase(func(n int) string {
		return "registered_resources:\n  models:\n" + lines(n, "  - {model_id: m%d, provider_id: p%d, model_type: llm}\n")
	})},
	{"base: models and providers", 6_000, withBase(func(n int) string {
		return "providers:\n  inference:\n" + lines(n, "  - {provider_id: p%d, provider_type: remote::vllm}\n") + "registered_resources:\n  models:\n" +
			lines(n, "  - {model_id: m%d, provider_id: p%d, model_type: llm}\n")
	})},
	{"base: shields", 10_000, withBase(func(n int) string {
		return "providers:\n  safety:\n  - {provider_id: lg, provider_type: inline::llama-guard}\nregistered_resources:\n  shields:\n" +
			lines(n, "  - {shield_id: m%d, provider_id: lg}\n")
	})},
	{"base: tool groups", 10_000, withBase(func(n int) string {
		return "providers:\n  tool_runtime:\n  - {provider_id: mcp, provider_type: remote::model-context-protocol}\nregistered_resources:\n  tool_groups:\n" +
			lines(n, "  - {toolgroup_id: m%d, provider_id: mcp, mcp_endpoint: {uri: http://a}}\n")
	})},
	{"base: connectors", 10_000, withBase(func(n int) string {
		return "connectors:\n" + lines(n, "- {connector_id: m%d, connector_type: mcp, url: http://a}\n")
	})},
	{"base: unset variables", 30_000, withBase(func(n int) string { return "x:\n" + lines(n, "- ${env.X%d}\n") })},
	{"base: unset variables in one string", 40_000, withBase(func(n int) string {
		return "x: " + lines(n, "${env.X%d}") + "\n"
	})},
	{"base: variables with defaults", 25_000, withBase(func(n int) string { return "x:\n" + lines(n, "- ${env.X%d:=a}\n") })},
	{"base: braces", 200_000, withBase(func(n int) string { return "x: '" + strings.Repeat("${env.", n/2) + "'\n" })},
	{"base: depth", 90, withBase(func(n int) string { return "x: " + strings.Repeat("{a: ", n) + "b" + strings.Repeat("}", n) + "\n" })},
	{"base: deep lists", 100, withBase(func(n int) string {
		return "x: &a\n- 1\n" + "y:\n" + lines(700*n, strings.Repeat(" ", 1)+"- a\n")
	})},
	{"base: a long key", 700_000, withBase(func(n int) string { return "? " + strings.Repeat("k", n) + "\n: v\n" })},
	{"base: a long string", 700_000, withBase(func(n int) string { return "x: " + strings.Repeat("k ", n/2) + "\n" })},
	{"base: dots in keys", 20_000, withBase(func(n int) string { return lines(n, "a.b[%d].c: {a: 1}\n") })},
	{"base: a long ID", 700_000, withBase(func(n int) string {
		return "providers:\n  inference:\n  - {provider_id: " + strings.Repeat("k", n) + ", provider_type: remote::vllm}\n"
	})},
	{"base: unknown provider types", 12_000, withBase(func(n int) string {
		return "providers:\n  inference:\n" + lines(n, "  - {provider_id: p%d, provider_type: remote::x%d}\n")
	})},
	{"base: wrong provider values", 9_900, withBase(func(n int) string {
		return "providers:\n  inference:\n" + lines(n, "  - {provider_id: p%d, provider_type: remote::vllm, config: {max_tokens: x}}\n")
	})},

	{"override: aliases of a long string", 3000, func(n int) written {
		return written{
			spec:     object{"overrideConfig": object{"configMapName": "mine"}, "workload": object{"workers": 2}},
			override: "x: &a " + strings.Repeat("a", 150_000) + "\ny:\n" + lines(n, "- *a\n"),
		}
	}},
	{"override: keys", 90_000, func(n int) written {
		return written{
			spec:     object{"overrideConfig": object{"configMapName": "mine"}, "workload": object{"workers": 2}},
			override: lines(n, "k%d: 1\n"),
		}
	}},

	{"podTemplate: env", 40_000, withServer(func(n int) object { return object{"env": many(n, variable)} })},
	{"podTemplate: env deleted", 30_000, withServer(func(n int) object {
		return object{"env": many(n, func(i int) any { return object{"name": fmt.Sprintf("V%d", i), "$patch": "delete"} })}
	})},
	{"podTemplate: env ordered", 20_000, withServer(func(n int) object {
		return object{"env": many(n, variable), "$setElementOrder/env": many(n, func(i int) any { return object{"name": fmt.Sprintf("V%d", n-i)} })}
	})},
	{"podTemplate: env with the same name", 40_000, withServer(func(n int) object {
		return object{"env": many(n, constant(object{"name": "V", "value": "1"}))}
	})},
	{"podTemplate: containers", 20_000, withPod(func(n int) object {
		return object{"containers": many(n, func(i int) any { return object{"name": fmt.Sprintf("c%d", i), "image": "i"} })}
	})},
	{"podTemplate: ports", 20_000, withServer(func(n int) object {
		return object{"ports": many(n, func(i int) any { return object{"containerPort": i + 1} })}
	})},
	{"podTemplate: mounts", 20_000, withServer(func(n int) object {
		return object{"volumeMounts": many(n, func(i int) any { return object{"name": "v", "mountPath": fmt.Sprintf("/m%d", i)} })}
	})},
	{"podTemplate: volumes", 20_000, withPod(func(n int) object {
		return object{"volumes": many(n, func(i int) any { return object{"name": fmt.Sprintf("v%d", i), "emptyDir": object{}} })}
	})},
	{"podTemplate: tolerations", 30_000, withPod(func(n int) object {
		return object{"tolerations": many(n, func(i int) any { return object{"key": fmt.Sprintf("v%d", i)} })}
	})},
	{"podTemplate: arguments", 100_000, withServer(func(n int) object { return object{"args": many(n, constant("a"))} })},
	{"podTemplate: finalizers", 50_000, withTemplate(func(n int) object {
		return object{"metadata": object{"finalizers": many(n, func(i int) any { return fmt.Sprintf("a.b/%d", i) })}}
	})},
	{"podTemplate: finalizers deleted", 50_000, withTemplate(func(n int) object {
		return object{"metadata": object{"$deleteFromPrimitiveList/finalizers": many(n, func(i int) any { return fmt.Sprintf("a.b/%d", i) })}}
	})},
	{"podTemplate: labels", 40_000, withTemplate(func(n int) object {
		return object{"metadata": object{"labels": keyed(n, "l%d", constant("v"))}}
	})},
	{"podTemplate: unknown fields", 60_000, withPod(func(n int) object { return keyed(n, "unknown%d", constant(1)) })},
	{"podTemplate: unknown fields in items", 30_000, withServer(func(n int) object {
		return object{"env": many(n, func(i int) any { return object{"name": fmt.Sprintf("V%d", i), "valeu": "1"} })}
	})},
	{"podTemplate: directives", 60_000, withPod(func(n int) object { return keyed(n, "$unknown%d", constant(1)) })},
	{"podTemplate: nulls", 60_000, withPod(func(n int) object { return keyed(n, "unknown%d", constant(nil)) })},
	{"podTemplate: depth", 5_000, withTemplate(func(n int) object {
		inner := object{}
		for range n {
			inner = object{"a": inner}
		}
		return inner
	})},

	{"overrides: env", 40_000, withOverrides(func(n int) object { return object{"env": many(n, variable)} })},
	{"overrides: env with the same name", 40_000, withOverrides(func(n int) object {
		return object{"env": many(n, constant(object{"name": "V", "value": "1"}))}
	})},
	{"overrides: envFrom", 20_000, withOverrides(func(n int) object {
		return object{"envFrom": many(n, func(i int) any { return object{"secretRef": object{"name": fmt.Sprintf("s%d", i)}} })}
	})},
	{"overrides: volumes", 20_000, withOverrides(func(n int) object {
		return object{"volumes": many(n, func(i int) any { return object{"name": fmt.Sprintf("v%d", i), "emptyDir": object{}} })}
	})},
	{"overrides: mounts", 20_000, withOverrides(func(n int) object {
		return object{"volumeMounts": many(n, func(i int) any { return object{"name": fmt.Sprintf("v%d", i), "mountPath": fmt.Sprintf("/m%d", i)} })}
	})},
	{"overrides: annotations", 40_000, withOverrides(func(n int) object {
		return object{"podAnnotations": keyed(n, "a%d", constant("v"))}
	})},
	{"overrides: pull secrets", 30_000, withOverrides(func(n int) object {
		return object{"imagePullSecrets": many(n, func(i int) any { return object{"name": fmt.Sprintf("s%d", i)} })}
	})},
	{"overrides: arguments", 100_000, withOverrides(func(n int) object { return object{"args": many(n, constant("a"))} })},
	{"workload: spread constraints", 20_000, func(n int) written {
		return written{spec: object{"workload": object{"topologySpreadConstraints": many(n, func(i int) any {
			return object{"maxSkew": 1, "topologyKey": fmt.Sprintf("k%d", i), "whenUnsatisfiable": "DoNotSchedule"}
		})}}}
	}},

	{"settings: unknown keys", 60_000, func(n int) written { return written{spec: object{"settings": keyed(n, "unknown%d", constant(1))}} }},
	{"settings: unknown server keys", 60_000, func(n int) written {
		return written{spec: object{"settings": object{"server": keyed(n, "unknown%d", constant(1))}}}
	}},
	{"settings: variables", 40_000, func(n int) written {
		return written{spec: object{"settings": object{"server": object{"x": many(n, func(i int) any { return fmt.Sprintf("${env.X%d}", i) })}}}}
	}},
	{"settings: nulls", 60_000, func(n int) written { return written{spec: object{"settings": keyed(n, "unknown%d", constant(nil))}} }},
	{"settings: owned", 40_000, func(n int) written {
		return written{spec: object{"settings": object{"providers": keyed(n, "unknown%d", constant(1))}}}
	}},
	{"settings: a list", 200_000, func(n int) written {
		return written{spec: object{"settings": object{"server": object{"x": many(n, constant(1))}}}}
	}},
	{"providers", 64, func(n int) written {
		providers := object{}
		for _, api := range []string{
			"inference", "safety", "vectorIo", "toolRuntime", "agents", "responses", "files", "batches",
			"eval", "scoring", "datasetIo", "postTraining",
		} {
			providers[api] = many(n, func(i int) any {
				return object{
					"id": fmt.Sprintf("%s-%d", api, i), "provider": "remote::vllm", "endpoint": "http://vllm:8000",
					"apiKey":   object{"secretKeyRef": object{"name": fmt.Sprintf("s%d", i), "key": "k"}},
					"settings": object{"max_tokens": i + 1},
				}
			})
		}
		return written{spec: object{"providers": providers}}
	}},
	{"providers: settings", 60_000, func(n int) written {
		return written{spec: object{"providers": object{"inference": object{
			"provider": "vllm", "endpoint": "http://a",
			"settings": keyed(n, "unknown%d", constant(1)),
		}}}}
	}},
	{"providers: unknown fields", 60_000, func(n int) written {
		fields := keyed(n, "unknown%d", constant(1))
		fields["provider"] = "vllm"
		return written{spec: object{"providers": object{"inference": fields}}}
	}},
	{"providers: secrets", 15_000, func(n int) written {
		return written{spec: object{"providers": object{"inference": object{
			"provider": "vllm", "endpoint": "http://a",
			"secretRefs": keyed(n, "key_%d", func(i int) any {
				return object{"secretKeyRef": object{"name": fmt.Sprintf("s%d", i), "key": "k"}}
			}),
		}}}}
	}},
	{"providers: short secrets", 15_000, func(n int) written {
		fields := keyed(n, "key_%d",
			func(i int) any { return object{"secretKeyRef": object{"name": fmt.Sprintf("s%d", i), "key": "k"}} })
		fields["provider"] = "vllm"
		fields["endpoint"] = "http://a"
		return written{spec: object{"providers": object{"inference": fields}}}
	}},
	{"providers: secrets with the same variable", 15_000, func(n int) written {
		fields := keyed(n, "key_%d", constant(secretRef("s", "k")))
		fields["provider"] = "vllm"
		fields["endpoint"] = "http://a"
		return written{spec: object{"providers": object{"inference": fields}}}
	}},
	{"models", 500, func(n int) written {
		return written{spec: object{
			"providers": object{"inference": object{"provider": "vllm", "endpoint": "http://a"}},
			"resources": object{"models": many(n, func(i int) any {
				return object{"name": fmt.Sprintf("m%d", i), "provider": "vllm", "metadata": keyed(100, "key%d", constant("v"))}
			})},
		}}
	}},
	{"models: metadata", 60_000, func(n int) written {
		return written{spec: object{
			"providers": object{"inference": object{"provider": "vllm", "endpoint": "http://a"}},
			"resources": object{"models": list{object{
				"name": "m", "provider": "vllm",
				"metadata": keyed(n, "key%d", constant("v")),
			}}},
		}}
	}},
	{"models: unknown fields", 60_000, func(n int) written {
		fields := keyed(n, "key%d", constant("v"))
		fields["name"] = "m"
		return written{spec: object{"resources": object{"models": list{fields}}}}
	}},
	{"tools", 500, func(n int) written {
		return written{spec: object{"resources": object{"tools": many(n, func(i int) any {
			return object{"name": fmt.Sprintf("t%d", i), "mcpEndpoint": "http://a", "args": keyed(100, "key%d", constant("v"))}
		})}}}
	}},
	{"shields", 500, func(n int) written {
		return written{spec: object{
			"providers": object{"safety": object{"id": "lg", "provider": "inline::llama-guard"}},
			"resources": object{"shields": many(n, func(i int) any {
				return object{"name": fmt.Sprintf("t%d", i), "provider": "lg", "params": keyed(100, "key%d", constant("v"))}
			})},
		}}
	}},
	{"disabled", 256, func(n int) written {
		return written{spec: object{"disabled": many(n, func(i int) any { return fmt.Sprintf("inference/p%d", i) })}}
	}},
	{"secretEnv", 64, func(n int) written {
		return written{spec: object{"secretEnv": keyed(n, "V%d", func(i int) any {
			return object{"secretKeyRef": object{"name": fmt.Sprintf("s%d", i), "key": "k"}}
		})}}
	}},
	{"expose: annotations", 40_000, func(n int) written {
		return written{spec: object{"networking": object{"expose": object{
			"hostname":    "a.b",
			"annotations": keyed(n, "a%d", constant("v")),
		}}}}
	}},
	{"external providers", 16, func(n int) written {
		external := object{}
		for _, api := range []string{
			"inference", "safety", "vectorIo", "toolRuntime", "agents", "responses", "files",
			"batches",
		} {
			external[api] = many(n, func(i int) any {
				return object{
					"providerId": fmt.Sprintf("%s-%d", api, i), "image": "a/b:1",
					"config": keyed(200, "key%d", constant("v")),
				}
			})
		}
		return written{spec: object{"externalProviders": external}}
	}},
	{"offline: providers of public services", 12_000, offline(func(n int) string {
		return "providers:\n  inference:\n" + lines(n, "  - {provider_id: p%d, provider_type: remote::groq}\n")
	})},
	{"offline: URLs of a provider", 20_000, offline(func(n int) string {
		return "providers:\n  inference:\n  - provider_id: vllm\n    provider_type: remote::vllm\n    config:\n" + lines(n, "      u%d: 'https://a.example.com'\n")
	})},
	{"offline: models that are loaded", 8_000, offline(func(n int) string {
		return "providers:\n  inference:\n  - {provider_id: st, provider_type: 'inline::sentence-transformers'}\n" +
			"registered_resources:\n  models:\n" + lines(n, "  - {model_id: m%d, provider_id: st, model_type: llm}\n")
	})},
	{"storage: backends replaced", 10_000, func(n int) written {
		made := withBase(func(n int) string {
			return "storage:\n  backends:\n" + lines(n, "    b%d: {type: sql_sqlite}\n") + "x:\n" + lines(n,
				"- {backend: b%d}\n")
		})(n)
		made.spec = object{"storage": object{"sql": object{"type": "postgres", "connectionString": secretRef("pg", "url")}}}
		return made
	}},
	{"disabled: providers of the base", 12_000, func(n int) written {
		made := withBase(func(n int) string {
			return "providers:\n  inference:\n" + lines(n, "  - {provider_id: p%d, provider_type: remote::vllm}\n")
		})(n)
		made.spec = object{"disabled": append(many(min(n, 255), func(i int) any { return fmt.Sprintf("inference/p%d", i) }), "inference")}
		return made
	}},
	{"models: in addition to the base's", 10_000, func(n int) written {
		made := withBase(func(n int) string {
			return "registered_resources:\n  models:\n" + lines(n, "  - {model_id: m%d, provider_id: vllm, model_type: llm}\n")
		})(n)
		made.spec = object{
			"providers": object{"inference": object{"provider": "vllm", "endpoint": "http://a"}},
			"resources": object{"models": many(min(n, 500), func(i int) any { return object{"name": fmt.Sprintf("m%d", i*2), "provider": "vllm"} })},
		}
		return made
	}},
	{"secrets", 2_000, func(n int) written { return written{spec: withSecrets(n)} }},
	{"podTemplate: environment variables in addition to those for secrets", 500, func(n int) written {
		made := withServer(func(n int) object {
			return object{"env": many(n, func(i int) any { return object{"name": fmt.Sprintf("V%d", i*2), "value": "1"} })}
		})(n)
		maps.Copy(made.spec, withSecrets(4*n))
		made.spec["workload"].(object)["overrides"].(object)["env"] = many(n, variable)
		return made
	}},
	{"podTemplate: lists in addition to those in overrides", 500, func(n int) written {
		volume := func(i int) any { return object{"name": fmt.Sprintf("v%d", i), "emptyDir": object{}} }
		mount := func(i int) any { return object{"name": fmt.Sprintf("v%d", i), "mountPath": fmt.Sprintf("/m%d", i)} }
		containers := many(n, func(i int) any { return object{"name": fmt.Sprintf("c%d", i), "image": "i"} })
		containers[0] = object{"name": "llama-stack", "volumeMounts": many(n, mount)}
		return written{spec: object{"workload": object{"overrides": object{
			"volumes": many(n, volume), "volumeMounts": many(n, mount),
			"podTemplate": object{"spec": object{"containers": containers, "volumes": many(n, volume)}},
		}}}}
	}},
}

// offline returns a function that creates a stack with a base configuration and without internet access.
func offline(base func(n int) string) func(n int) written {
	return func(n int) written {
		made := withBase(base)(n)
		made.spec = object{"offline": true, "networking": object{"port": 9000}}
		return made
	}
}
