package cli_test

import (
	"path/filepath"
	"strings"
	"testing"
)

// remedy is a change to a stack with a volume, and the remedy in the message about its data. The texts are the parts of
// the spec that are not the same in all cases.
type remedy struct {
	before, after, remedied string
	// message is the part of the message that names the remedy.
	message string
}

// These are the parts of several specs.
const (
	newest    = `{distribution: {name: starter, version: "1.5"}, workload: {storage: {}}, `
	embedding = `providers: {inference: {id: vllm, provider: vllm, endpoint: "http://vllm:8000"}},
		resources: {models: [{provider: vllm, modelType: embedding, metadata: {embedding_dimension: 8}, `
)

// remedies contains each kind of remedy that is more than to take the change back, to copy data with the tool of a
// database, or to accept a loss. TestPublicNames in test/server/boot checks those for names of models on real servers.
var remedies = map[string]remedy{
	"keys in files, 0.7 to 1.5": {
		before:   `{distribution: {image: "docker.io/ogxai/distribution-starter:0.7.3"}, workload: {storage: {}}}`,
		after:    `{distribution: {image: "docker.io/ogxai/distribution-starter:1.5.0"}, workload: {storage: {}}}`,
		remedied: `{distribution: {image: "docker.io/ogxai/distribution-starter:1.5.0"}, workload: {storage: {}}, storage: {kv: {}}}`,
		message:  "set spec.storage.kv to {} in the same change",
	},
	"other mount path, files": {
		before: `{distribution: {name: starter, version: "1.5"}, workload: {storage: {mountPath: /old}}}`,
		after:  `{distribution: {name: starter, version: "1.5"}, workload: {storage: {mountPath: /new}}}`,
		remedied: `{distribution: {name: starter, version: "1.5"}, workload: {storage: {mountPath: /new}, overrides: {
			volumeMounts: [{name: lls-storage, mountPath: /old}]}}}`,
		message: "also mount the volume at the previous path (spec.workload.overrides.volumeMounts: name lls-storage, mountPath /old)",
	},
	"variable off the volume": {
		before: `{distribution: {name: starter, version: "1.5"}, workload: {storage: {}, overrides: {env: [
			{name: SQLITE_STORE_DIR, value: /data}]}}}`,
		after: `{distribution: {name: starter, version: "1.5"}, workload: {storage: {}, overrides: {env: [
			{name: SQLITE_STORE_DIR, value: /data}]}}}`,
		remedied: `{distribution: {name: starter, version: "1.5"}, workload: {storage: {}, overrides: {env: [
			{name: SQLITE_STORE_DIR, value: /.llama/data}]}}}`,
		message: "set the variable SQLITE_STORE_DIR to a path below /.llama in spec.workload.overrides.env; to keep existing data, " +
			"copy it to the new directory before the next rollout",
	},
	"literal path off the volume": {
		before:   newest + `providers: {files: {provider: localfs, settings: {storage_dir: "~/files"}}}}`,
		after:    newest + `providers: {files: {provider: localfs, settings: {storage_dir: "~/files"}}}}`,
		remedied: newest + `providers: {files: {provider: localfs, settings: {storage_dir: /.llama/files}}}}`,
		message:  "write a path below /.llama",
	},
	"home directory of the image": {
		before: `{distribution: {name: starter, version: "0.7"}, workload: {storage: {mountPath: /data}}}`,
		after:  `{distribution: {name: starter, version: "0.7"}, workload: {storage: {mountPath: /data}}}`,
		remedied: `{distribution: {name: starter, version: "0.7"}, workload: {storage: {mountPath: /data}, overrides: {env: [
			{name: HOME, value: /data}]}}}`,
		message: "set the variable HOME to the result in spec.workload.overrides.env",
	},
	"second provider of an API without routing": {
		before:   newest + `providers: {inference: {provider: vllm, endpoint: "http://vllm:8000"}}}`,
		after:    newest + `providers: {files: {id: mine, provider: localfs, settings: {storage_dir: /.llama/other}}}}`,
		remedied: newest + `providers: {files: {id: mine, provider: localfs}}}`,
		message:  `or give it the type and the settings of "builtin-files"`,
	},
	"other type of a vector provider": {
		before: newest + `providers: {vectorIo: {id: mine, provider: qdrant, endpoint: "http://qdrant:6333"}}}`,
		after:  newest + `providers: {vectorIo: {id: mine, provider: chromadb, endpoint: "http://chroma:8000"}}}`,
		remedied: newest + `providers: {vectorIo: [{id: mine, provider: qdrant, endpoint: "http://qdrant:6333"},
			{id: other, provider: chromadb, endpoint: "http://chroma:8000"}]}}`,
		message: "add the new provider with a different ID and keep the old one",
	},
	"vector provider renamed": {
		before:   newest + `providers: {vectorIo: {id: mine, provider: qdrant, endpoint: "http://qdrant:6333"}}}`,
		after:    newest + `providers: {vectorIo: {id: other, provider: qdrant, endpoint: "http://qdrant:6333"}}}`,
		remedied: newest + `providers: {vectorIo: {id: mine, provider: qdrant, endpoint: "http://new:6333"}}}`,
		message:  "keep the ID",
	},
	"vector provider removed": {
		before: newest + `providers: {vectorIo: {id: mine, provider: qdrant, endpoint: "http://qdrant:6333"}}}`,
		after:  newest + `providers: {inference: {provider: vllm, endpoint: "http://vllm:8000"}}}`,
		remedied: newest + `providers: {inference: {provider: vllm, endpoint: "http://vllm:8000"},
			vectorIo: {id: mine, provider: qdrant, endpoint: "http://qdrant:6333"}}}`,
		message: "configure the provider again to recover the vector stores",
	},
	"embedding model with another name, 0.7 to 1.5": {
		before:   `{distribution: {name: starter, version: "0.7.3"}, workload: {storage: {}}, ` + embedding + `name: my-emb, providerModelId: emb}]}}`,
		after:    newest + embedding + `name: my-emb, providerModelId: emb}]}}`,
		remedied: newest + embedding + `name: emb}]}}`,
		message:  `use an entry in spec.resources.models with the name "emb" and modelType embedding, without providerModelId`,
	},
}

// TestRemedies changes a stack as a user does, and then follows the remedy in the message of validate: validate must
// not report the data again.
func TestRemedies(t *testing.T) {
	for name, r := range remedies {
		t.Run(name, func(t *testing.T) {
			compat := ""
			if strings.Contains(r.message, "HOME") {
				compat = `, annotations: {llamastack.io/compat: v1alpha1}`
			}
			file := func(spec string) string {
				return filepath.Join(write(t, map[string]string{"stack.yaml": "apiVersion: llamastack.io/v1alpha2\nkind: LlamaStackDistribution\nmetadata: {name: my-stack, namespace: ns" +
					compat + "}\nspec: " + strings.ReplaceAll(spec, "\t", " ") + "\n"}), "stack.yaml")
			}
			before := file(r.before)
			told := run(t, "", "validate", "-f", file(r.after), "--previous", before).err
			if !strings.Contains(told, r.message) {
				t.Fatalf("validate does not name the remedy:\n%s", told)
			}
			told = run(t, "", "validate", "-f", file(r.remedied), "--previous", before).err
			if strings.Contains(told, r.message) {
				t.Errorf("validate names the remedy again:\n%s", told)
			}
		})
	}
}
