package resources

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/llamastack/llama-stack-k8s-operator/internal/core/envref"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/intent"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/draft"
	"github.com/llamastack/llama-stack-k8s-operator/internal/core/stackconfig/yamlnode"
)

// These are keys of a model's metadata (FR-042). The server stores all of them and reads only the dimension.
const (
	keyContextLength      = "context_length"
	keyQuantization       = "quantization"
	keyEmbeddingDimension = "embedding_dimension"
)

// model registers one model (FR-040 to FR-042).
func (r *registrar) model(m *intent.Model) {
	res, ok := r.newResource(kindModels, m.Name, m.Path)
	if !ok {
		return
	}
	res.modelType = cmp.Or(m.ModelType, "llm")
	if !r.provider(res, m.Provider, providerPath(m.Path, m.Provider)) {
		return
	}
	if m.ProviderModelID != "" {
		r.Write(draft.Under(res.entry, "provider_model_id"), yamlnode.String(m.ProviderModelID), draft.From(m.Path.Child("providerModelId")))
	}
	if m.ModelType != "" {
		r.Write(draft.Under(res.entry, "model_type"), yamlnode.String(m.ModelType), draft.From(m.Path.Child("modelType")))
	}
	metadata := r.metadata(m)
	r.embedding(m)
	if len(metadata.Content) > 0 {
		r.Write(draft.Under(res.entry, "metadata"), metadata, draft.From(m.Path))
	}
	r.register(res)
	r.public(m, res)
}

// public records the name that clients use for a model, unless the release is unknown. It warns if that name does not
// contain the name in the spec.
func (r *registrar) public(m *intent.Model, res *resource) {
	if r.Unknown {
		return
	}
	provider, _ := envref.Static(yamlnode.Text(res.entry, "provider_id"))
	id := res.Public(m.Name, provider, m.ProviderModelID)
	r.models = append(r.models, PublicModel{Path: m.Path.String(), Name: m.Name, ID: id})
	if own, twice := strings.CutPrefix(m.Name, provider+"/"); twice && m.ProviderModelID == "" && !namesItself[provider] {
		r.Warnf(m.Path, "the provider receives the name %q with its own ID in front, and clients use %q; unless the provider has such a model, write %q", m.Name, id, own)
	}
	if res.DropsID() && m.ProviderModelID != "" && m.ProviderModelID != m.Name {
		r.Warnf(m.Path.Child("name"), "server release %s ignores this name because providerModelId is set, and clients use the name %q for the model; set name to the value of providerModelId", r.Release.Line, id)
	}
}

// namesItself contains the providers whose own names for models can begin with the ID that the provider has in the
// distributions, for example nvidia/llama-3.1-nemotron and sentence-transformers/all-MiniLM-L6-v2.
var namesItself = map[string]bool{"groq": true, "nvidia": true, "sentence-transformers": true}

// providerPath returns the field at which this package reports errors about the provider of a resource.
func providerPath(path *field.Path, named string) *field.Path {
	if named == "" {
		return path
	}
	return path.Child("provider")
}

func (r *registrar) metadata(m *intent.Model) *yaml.Node {
	metadata := yamlnode.Map()
	if m.ContextLength != nil {
		r.Write(draft.Under(metadata, keyContextLength), yamlnode.Int(*m.ContextLength),
			draft.From(m.Path.Child("contextLength")))
	}
	if m.Quantization != "" {
		r.Write(draft.Under(metadata, keyQuantization), yamlnode.String(m.Quantization),
			draft.From(m.Path.Child("quantization")))
	}
	path, fields := m.Path.Child("metadata"), yamlnode.FieldsOf(metadata)
	for _, key := range slices.Sorted(maps.Keys(m.Metadata)) {
		if fields.Get(key) != nil {
			r.Failf(path.Child(key), "%q is also set by a field of the model; keep one of them", key)
			continue
		}
		r.WriteField(fields, key, yamlnode.FromJSON(m.Metadata[key]), draft.From(path.Child(key)))
	}
	return metadata
}

// embedding reports an embedding model whose dimension is missing or is not a whole number greater than 0. Without a
// dimension, the server does not start (server fact 19).
func (r *registrar) embedding(m *intent.Model) {
	if m.ModelType != "embedding" {
		return
	}
	path := m.Path.Child("metadata", keyEmbeddingDimension)
	switch value := m.Metadata[keyEmbeddingDimension].(type) {
	case nil:
		r.Fail(field.Required(path, "required for an embedding model; set the key to the length of the vectors"))
	case json.Number:
		if n, err := strconv.ParseInt(value.String(), 10, 64); err != nil || n <= 0 {
			r.Failf(path, "%s is not a whole number greater than 0; set the key to the length of the vectors", value)
		}
	default:
		r.Failf(path, "must be a whole number greater than 0; set the key to the length of the vectors")
	}
}

// PublicModel is one of the user's models. The release determines the ID by which clients request it.
type PublicModel struct {
	// Path is the model's field in the spec, and Name is the name in the field.
	Path, Name string
	// ID is the name of the model in client requests, for example vllm/llama3.2-8b.
	ID string
}

// String returns a message that shows the user by which name clients request the model.
func (m PublicModel) String() string {
	return fmt.Sprintf("%s: clients use the name %q for this model", m.Path, m.ID)
}
